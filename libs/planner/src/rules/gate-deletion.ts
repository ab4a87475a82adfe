/**
 * A RedisCluster that is being deleted. `deletionPolicy` alone decides what goes: Deny keeps everything and asks;
 * RetainVolumes deletes what runs and keeps volumes, record and credentials, so that the same data set can be taken up
 * again (the record is told the number of data pods first); Delete takes those too, the credentials after all else, since
 * only they tell which Secrets of users are ours; Snapshot keeps one volume with a last RDB on it (keep-last-snapshot.ts). The
 * finalizer goes last, when nothing of what had to go is left: an agent killed in between finds the object still there and goes
 * on. Children are ours only with both the label and the name.
 *
 * While a deletion waits for a person nothing halts: the pods that run need labels, users and failovers as before. Only
 * where the namespace ends does it halt: nobody owns that any more, and two agents may look at it.
 */
import { FINALIZER, LABEL } from '#domain';
import type { Action, DeletionPolicy, KubeObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { isKeptAside, isKeptClaim, keepLastSnapshot } from '../keep-last-snapshot.ts';
import { writeRecord } from '../make-action.ts';
import type { Rule, RuleOutcome } from '../rule.ts';
import { isDeletionDenied, tellWaitingDeletion } from './tell-waiting-deletion.ts';

export const gateDeletion: Rule = {
  name: 'gate-deletion',
  decide: (context) => {
    const { view, primary } = context;
    const { metadata } = view.snapshot.resource;
    if (metadata.deletionTimestamp === undefined) return undefined;
    if (metadata.finalizers?.includes(FINALIZER) !== true) {
      return { reason: 'DeletionReleased', message: 'Nothing of this object is left to be done.', halt: true };
    }
    const policy = view.wanted.deletionPolicy;
    if (isDeletionDenied(view)) return waitsFor(view, tellWaitingDeletion.decide(context));
    if (policy === 'Snapshot' && !isKeptAside(view)) {
      const outcome = keepLastSnapshot(view, primary);
      if (outcome !== undefined) return outcome.halt === true ? outcome : waitsFor(view, outcome);
    }
    return deleteChildren(view, policy);
  },
};

/** undefined: the rules go on, and the last of them asks. */
const waitsFor = ({ snapshot }: ClusterView, outcome: RuleOutcome | undefined): RuleOutcome | undefined =>
  snapshot.namespaceTerminating === true && outcome !== undefined ? { ...outcome, halt: true } : undefined;

/**
 * Into the record, which stays, before the last object goes that tells it: whoever takes the data set up again needs it
 * (forget-members.ts).
 */
const countMembers = (view: ClusterView): readonly Action[] => {
  const set = findChild(view.snapshot, 'StatefulSet', view.names.redis);
  const members = view.live.size;
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return [];
  if (view.snapshot.record === undefined || members === undefined || view.record?.members === members) return [];
  const message = `The record keeps that the data set has ${members} data pods; its volumes stay.`;
  return [writeRecord(view, { members }, 'CountingMembers', message)];
};

const deleteChildren = (view: ClusterView, policy: DeletionPolicy): RuleOutcome => {
  const doomed = view.snapshot.children.filter((child) => isOurs(view, child) && !isKept(view, child, policy));
  const pods = view.dataPods.length + view.sentinelPods.length;
  if (doomed.length === 0 && pods === 0) {
    const message = `Everything that deletionPolicy ${policy} names is gone.`;
    return {
      reason: 'ChildrenGone',
      message,
      halt: true,
      actions: [{ kind: 'RemoveFinalizer', reason: 'ChildrenGone', message, disruptive: false }],
    };
  }
  const others = doomed.filter((child) => !isCredentials(view, child));
  const next = others.length > 0 ? others : doomed;
  const deletions = next.filter((child) => child.metadata.deletionTimestamp === undefined).map(deleteChild);
  const actions = [...(policy === 'RetainVolumes' ? countMembers(view) : []), ...deletions];
  const message = `Waiting until ${doomed.length} objects and ${pods} pods are gone (deletionPolicy ${policy}).`;
  return {
    reason: 'DeletingChildren',
    message,
    halt: true,
    actions,
    findings: [{ type: 'Reconciling', status: 'True', reason: 'DeletingChildren', message }],
  };
};

const isOurs = (view: ClusterView, child: KubeObject): boolean =>
  child.metadata.labels?.[LABEL.dataSet] === view.names.hash &&
  child.metadata.labels[LABEL.instance] === view.key.name &&
  child.metadata.uid !== undefined;

const isKept = (view: ClusterView, child: KubeObject, policy: DeletionPolicy): boolean => {
  if (policy === 'Delete') return false;
  if (policy === 'Snapshot') return isKeptClaim(child);
  if (child.kind === 'PersistentVolumeClaim') return true;
  const { name } = child.metadata;
  return (child.kind === 'ConfigMap' && name === view.names.record) || isCredentials(view, child);
};

const isCredentials = ({ names }: ClusterView, { kind, metadata }: KubeObject): boolean =>
  kind === 'Secret' && metadata.name === names.credentialsSecret;

const deleteChild = (child: KubeObject): Action => ({
  kind: 'DeleteChild',
  apiVersion: child.apiVersion,
  objectKind: child.kind,
  key: { namespace: child.metadata.namespace ?? '', name: child.metadata.name },
  uid: child.metadata.uid ?? '',
  reason: 'DeletingChildren',
  message: `Deleting ${child.kind} ${child.metadata.name}.`,
  disruptive: false,
});
