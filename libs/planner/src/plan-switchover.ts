/**
 * The planned hand-over of a living primary, and to whom: decided from what the pods and the Sentinels say now (U3 of
 * redis-engine). Invariant: the target is linked, was heard of lately, lacks little, and can read what the primary
 * wrote; the Sentinels agree on the old primary, have a quorum and run no failover. Without these gates the executor
 * would pause the writers for a hand-over that cannot be finished, or hand over to a node that loses writes.
 */
import { compareEngineVersions } from '#domain';
import type { Action } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod, SentinelPod } from './cluster-view.ts';
import { ANOTHER_POD_AWAY, explainAway } from './explain-away.ts';
import { findChild } from './find-child.ts';
import { followsAddressOf } from './replication-role.ts';
import { judgeSentinels } from './judge-sentinels.ts';

export interface SwitchoverRequest {
  /** Name of the pod that shall be primary; default: the best. */
  readonly to?: string;
  /** Stable code in CamelCase of why. */
  readonly reason: string;
  readonly message: string;
}

/** Why there is no hand-over now; what has to change is in the sentence. */
export interface CannotSwitch {
  readonly cannot: { readonly reason: string; readonly message: string };
}

export type SwitchOverAction = Extract<Action, { readonly kind: 'SwitchOver' }>;

/** Twice repl-ping-replica-period, in which a primary without writes still says something. */
const HEARD_WITHIN_S = 20;
/** What a paused primary delivers well within a second. */
const LAG_LIMIT_BYTES = 1024 * 1024;

export const planSwitchover = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  request: SwitchoverRequest,
): SwitchOverAction | CannotSwitch => {
  if (primary === undefined) return cannot('NoPrimary', 'There is no confirmed primary to hand over from.');
  const sentinels = explainHandsOff(view, primary) ?? (isSentinel(view) ? chooseSentinels(view, primary) : []);
  if ('cannot' in sentinels) return sentinels;
  const target = chooseTarget(view, primary, request.to);
  if ('cannot' in target) return target;
  return {
    kind: 'SwitchOver',
    method: isSentinel(view) ? 'SENTINEL' : 'COMMAND',
    from: primary.name,
    fromRunId: primary.facts.runId,
    to: target.name,
    toRunId: target.facts.runId,
    toHost: target.ip ?? '',
    ...(isSentinel(view) ? { masterName: view.names.masterName } : {}),
    sentinelPods: sentinels.map((pod) => pod.name),
    replicas: listOthers(view, primary, target),
    reason: request.reason,
    message: request.message,
    disruptive: true,
  };
};

/**
 * As planSwitchover, for a hand-over that nothing before it has made room for: it waits while another data pod is away.
 * A rollout has its own gate (rollout/explain-unrest.ts), which knows the pods that are to be restarted anyway.
 */
export const planSwitchoverAlone = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  request: SwitchoverRequest,
): SwitchOverAction | CannotSwitch => {
  const made = planSwitchover(view, primary, request);
  if ('cannot' in made) return made;
  const away = explainAway(view, [made.from, made.to]);
  return away === undefined ? made : cannot(ANOTHER_POD_AWAY, away);
};

const isSentinel = ({ spec }: ClusterView): boolean => spec.mode === 'Sentinel';

const explainHandsOff = ({ spec }: ClusterView, { name, facts }: AnsweringPod): CannotSwitch | undefined => {
  if (spec.mode === 'Standalone') return cannot('NoReplica', 'A Standalone has no replica to hand over to.');
  const busy = facts.loading || facts.failoverState !== undefined;
  return busy ? cannot('PrimaryBusy', `${name} is loading, or hands itself over already.`) : undefined;
};

const cannot = (reason: string, message: string): CannotSwitch => ({ cannot: { reason, message } });

/** Those that name this primary and see a quorum, if they are more than half of all there should be. */
const chooseSentinels = (view: ClusterView, primary: DataPod): readonly SentinelPod[] | CannotSwitch => {
  const verdict = judgeSentinels(view);
  if (verdict.failoverInProgress) return cannot('FailoverInProgress', 'The Sentinels run a failover; it ends first.');
  if (!verdict.majorityAnswers) return cannot('SentinelsNotReachable', 'No majority of the Sentinels answers.');
  if (verdict.agreedHost !== primary.ip) {
    return cannot('SentinelsDisagree', `No majority of the Sentinels names ${primary.name} as primary.`);
  }
  const calm = view.sentinelPods.filter(
    ({ facts, terminating }) =>
      !terminating && facts.reachable && facts.primaryHost === primary.ip && facts.flags === 'master' && facts.quorumOk,
  );
  if (calm.length * 2 > Math.max(view.spec.sentinel.replicas, view.sentinelPods.length)) return calm;
  return cannot('NoQuorum', `Less than a majority of the Sentinels see ${primary.name} well and their quorum.`);
};

const chooseTarget = (
  view: ClusterView,
  primary: AnsweringPod,
  to: string | undefined,
): AnsweringPod | CannotSwitch => {
  const others = view.dataPods.filter((pod) => pod.name !== primary.name);
  const asked = to === undefined ? others : others.filter((pod) => pod.name === to);
  if (to !== undefined && asked.length === 0) {
    return cannot('NoSuchReplica', `${to} is no replica of ${primary.name}.`);
  }
  const defects = new Map(asked.map((pod) => [pod.name, explainUnfit(view, primary, pod)]));
  const fit = asked.filter(answers).filter((pod) => defects.get(pod.name) === undefined);
  const best = [...fit].sort((a, b) => comparePreference(view, a, b))[0];
  if (best !== undefined) return best;
  const list = asked.map((pod) => `${pod.name} ${defects.get(pod.name) ?? ''}`).join('; ');
  return cannot('NoFitReplica', list === '' ? 'There is no other data pod.' : `No replica can take over: ${list}.`);
};

/** A verb phrase to follow the pod's name; undefined when it can take over. */
const explainUnfit = (view: ClusterView, primary: AnsweringPod, pod: DataPod): string | undefined => {
  if (!answers(pod)) return 'does not answer';
  if (pod.terminating) return 'is being deleted';
  if (!pod.nodeReady) return `is on node ${pod.node ?? 'unknown'}, which is not Ready`;
  return explainUnfitCopy(primary, pod) ?? explainUnknown(view, pod);
};

const explainUnfitCopy = (primary: AnsweringPod, pod: AnsweringPod): string | undefined => {
  const { facts } = pod;
  if (facts.loading || facts.syncInProgress) return 'is still receiving its copy';
  if (!followsAddressOf(pod, primary) || facts.linkUp !== true) return `is not linked to ${primary.name}`;
  if ((facts.lastIoSeconds ?? 0) > HEARD_WITHIN_S) return 'has heard nothing from its primary lately';
  if (facts.replicationId !== primary.facts.replicationId) return 'holds another history';
  if (primary.facts.offsetBytes - facts.offsetBytes > LAG_LIMIT_BYTES) return 'lags more than 1 MiB behind';
  return readsWhat(primary, pod) ? undefined : `runs ${facts.version}, which is older than the primary`;
};

/** A newer engine's snapshot cannot be read by an older one. Of two engines the upgrade graph has decided before. */
const readsWhat = (primary: AnsweringPod, pod: AnsweringPod): boolean =>
  primary.facts.engine !== pod.facts.engine || compareEngineVersions(pod.facts.version, primary.facts.version) >= 0;

const explainUnknown = (view: ClusterView, pod: AnsweringPod): string | undefined => {
  if (view.spec.mode !== 'Sentinel' || judgeSentinels(view).knownHosts.has(pod.ip ?? '')) return undefined;
  return 'is not known to the Sentinels yet';
};

/**
 * Already of the wanted revision first, then not on a node that is being emptied, then one that shares its node with nobody,
 * then the one furthest along.
 */
const comparePreference = (view: ClusterView, a: AnsweringPod, b: AnsweringPod): number =>
  Number(isUpdated(view, b)) - Number(isUpdated(view, a)) ||
  Number(isCordoned(view, a)) - Number(isCordoned(view, b)) ||
  Number(sharesNode(view, a)) - Number(sharesNode(view, b)) ||
  b.facts.offsetBytes - a.facts.offsetBytes ||
  a.ordinal - b.ordinal;

const isUpdated = ({ snapshot, names }: ClusterView, pod: DataPod): boolean => {
  const status = findChild(snapshot, 'StatefulSet', names.redis)?.['status'];
  const newest = (status as { updateRevision?: string } | undefined)?.updateRevision ?? '';
  return newest === '' || pod.controllerRevision === undefined || pod.controllerRevision === newest;
};

/** A drain takes its pods one after another: the next one of them would hand over again. */
const isCordoned = ({ snapshot }: ClusterView, { node }: DataPod): boolean =>
  snapshot.nodes.some(({ name, cordoned }) => name === node && cordoned === true);

const sharesNode = ({ dataPods }: ClusterView, pod: DataPod): boolean =>
  pod.node !== undefined && dataPods.some((other) => other.name !== pod.name && other.node === pod.node);

/** One that is going is not waited for under the pause: nothing depends on what it has. */
const listOthers = (view: ClusterView, primary: DataPod, target: DataPod): SwitchOverAction['replicas'] =>
  view.dataPods
    .filter(answers)
    .filter((pod) => pod.name !== target.name && !pod.terminating)
    .filter((pod) => followsAddressOf(pod, primary) && pod.facts.linkUp === true)
    .map((pod) => ({ pod: pod.name, runId: pod.facts.runId }));
