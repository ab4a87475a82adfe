/**
 * RedisOperation ReplaceUnreachable: a person says that the node of this pod is dead. The agent checks what it can see,
 * that the node is not Ready or is gone, and then deletes the pod's object by force, so that it is made anew elsewhere.
 * Never for a pod on a node that is Ready: two processes of one pod could run at once.
 */
import { volumeClaimName } from '#manifests';
import type { ClusterView, DataPod, SentinelPod } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { notedOf, verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind, OperationVerdict } from './operation-kind.ts';
import { POD_NOTE, isScaledAway } from './restarts-asked.ts';

type AnyPod = DataPod | SentinelPod;
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

const findAsked = ({ operation, view }: Pick<OperationContext, 'operation' | 'view'>): AnyPod | undefined =>
  [...view.dataPods, ...view.sentinelPods].find(({ name }) => name === operation.spec.replaceUnreachable?.pod);

/** The pod to delete now: still the very pod that was noted, its node still not Ready. */
export const findUnreachablePod = (context: Pick<OperationContext, 'operation' | 'view'>): AnyPod | undefined => {
  const pod = findAsked(context);
  if (pod === undefined || pod.nodeReady) return undefined;
  return pod.uid === notedOf(context.operation, `${POD_NOTE}${pod.name}`) ? pod : undefined;
};

export const replacePod: OperationKind = {
  begin: (context) => {
    const pod = findAsked(context);
    const name = context.operation.spec.replaceUnreachable?.pod ?? '';
    if (pod === undefined) return verdict('Failed', 'NoSuchPod', `There is no pod ${name}.`);
    if (pod.nodeReady) {
      const message = `Node ${pod.node ?? 'unknown'} of pod ${name} is Ready, so the pod may be running. It is left alone.`;
      return verdict('Failed', 'NodeIsReady', message);
    }
    const message = `Pod ${name} on node ${pod.node ?? 'unknown'} is deleted by force and made anew.`;
    return verdict('Running', 'Replacing', `${message}${tellVolume(context.view, pod)}`, {
      steps: [{ name: 'Delete', state: 'Running', message }],
      noted: { [`${POD_NOTE}${name}`]: pod.uid },
    });
  },
  proceed: (context) => judge(context),
  cancel: (context) => {
    const now = judge(context);
    if (now.phase !== 'Running') return now;
    if (isStillThere(context)) return verdict('Cancelled', 'Cancelled', 'It was called off; the pod was not deleted.');
    const message = 'It was called off after the pod had been deleted; a new one is made all the same.';
    return verdict('Cancelled', 'Cancelled', `${message} ${now.message}`, { steps: now.steps });
  },
};

const isStillThere = (context: OperationContext): boolean => {
  const pod = findAsked(context);
  return pod !== undefined && pod.uid === notedOf(context.operation, `${POD_NOTE}${pod.name}`);
};

const judge = (context: OperationContext): OperationVerdict => {
  const pod = findAsked(context);
  if (isStillThere(context)) {
    if (pod?.nodeReady === true) {
      return verdict('Failed', 'NodeIsReady', `Node ${pod.node ?? 'unknown'} is Ready again; the pod is left alone.`);
    }
    const message = 'The pod is about to be deleted.';
    return verdict('Running', 'Replacing', message, { steps: [{ name: 'Delete', state: 'Running', message }] });
  }
  return judgeSuccessor(context, pod);
};

const judgeSuccessor = ({ operation, view }: OperationContext, pod: AnyPod | undefined): OperationVerdict => {
  const deleted = { name: 'Delete', state: 'Done' } as const;
  if (pod?.ready === true) {
    const message = `Pod ${pod.name} runs on node ${pod.node ?? 'unknown'} now.`;
    return verdict('Succeeded', 'Replaced', message, { steps: [deleted, { name: 'Start', state: 'Done', message }] });
  }
  const name = operation.spec.replaceUnreachable?.pod ?? '';
  if (pod === undefined && isScaledAway(view, name)) {
    const message = `Pod ${name} is gone, and the spec asks for none in its place.`;
    return verdict('Succeeded', 'ScaledAway', message, { steps: [deleted] });
  }
  const message = `Waiting for the new pod to become ready.${pod === undefined ? '' : tellVolume(view, pod)}`;
  return verdict('Running', 'Starting', message, { steps: [deleted, { name: 'Start', state: 'Running', message }] });
};

/** A volume that was made on one node keeps the new pod waiting for that node. */
const tellVolume = (view: ClusterView, pod: AnyPod): string => {
  if (pod.component !== 'redis' || !view.spec.persistenceEnabled) return '';
  const claim = volumeClaimName(pod.name);
  const node = findChild(view.snapshot, 'PersistentVolumeClaim', claim)?.metadata.annotations?.[SELECTED_NODE];
  if (node === undefined) return '';
  return (
    ` Its volume ${claim} was made on node ${node}; if it is local to that node, the pod waits for the node until the ` +
    'claim is deleted, and then it takes a full copy of the primary.'
  );
};
