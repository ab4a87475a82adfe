/** What the cache keeps of a pod. Pods are the most numerous objects, so this is small and flat. */
import { LABEL, LAST_WORDS, memoryLimitBytes } from '#domain';
import type { KubeObject, PodSnapshot } from '#domain';

export interface PodProjection extends Omit<PodSnapshot, 'nodeReady'> {
  readonly namespace: string;
  /** Kubernetes' own word that the node is lost. */
  readonly nodeLost: boolean;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: { readonly message?: string; readonly finishedAt?: string };
}
interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}
interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}
interface PodFields {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly {
      readonly name: string;
      readonly image?: string;
      readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly reason?: string;
    readonly conditions?: readonly PodCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

const MAX_REASON = 200;
/** An ordinary start; a pod that is only starting comes back by itself, and nobody is asked for help. */
const STARTING: ReadonlySet<string | undefined> = new Set(['PodInitializing', 'ContainerCreating']);

const joinReason = (reason: string | undefined, message: string | undefined): string | undefined => {
  if (reason === undefined) return undefined;
  return (message === undefined || message === '' ? reason : `${reason}: ${message}`).slice(0, MAX_REASON);
};

const conditionOf = (pod: PodFields, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((condition) => condition.type === type);

/** The first container that waits for something worth telling, else why no node takes the pod. */
const readWaitingReason = (pod: PodFields): string | undefined => {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const waiting = statuses.map((status) => status.state?.waiting).find((state) => state?.reason !== undefined);
  if (waiting !== undefined && !STARTING.has(waiting.reason)) return joinReason(waiting.reason, waiting.message);
  const scheduled = conditionOf(pod, 'PodScheduled');
  return scheduled?.status === 'False' ? joinReason(scheduled.reason, scheduled.message) : undefined;
};

/**
 * A container that runs may have been Ready since the end of the one before it: Kubernetes keeps that one's words for the whole
 * life of the next, and they would be told as news when a node is lost weeks later. Its clock counts whole seconds, and no
 * container ends, starts, gets Ready and loses it within one of them.
 */
const readLastMessage = (status: ContainerStatus, notReadySince = ''): string => {
  const { message = '', finishedAt = '' } = readLastEnd(status) ?? {};
  const isPast = status.state?.running !== undefined && Date.parse(finishedAt) < Date.parse(notReadySince);
  return isPast ? '' : message;
};

const readLastEnd = ({ state, lastState }: ContainerStatus): ContainerState['terminated'] =>
  state?.terminated ?? lastState?.terminated;

/** What our entrypoint left behind at its last end, while the pod is not ready: later nobody needs it. */
const readLastWords = (pod: PodFields): string | undefined => {
  const ready = conditionOf(pod, 'Ready');
  if (ready?.status === 'True') return undefined;
  const messages = (pod.status?.containerStatuses ?? []).map((status) =>
    readLastMessage(status, ready?.lastTransitionTime),
  );
  return messages
    .find((message) => LAST_WORDS.test(message))
    ?.trim()
    .slice(0, MAX_REASON);
};

const readOrdinal = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? 0);

const readRestarts = (pod: PodFields): number =>
  (pod.status?.containerStatuses ?? []).reduce((sum, status) => sum + (status.restartCount ?? 0), 0);

const optional = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };

/** Annotations that are decided from; the rest (CNI, injected sidecars) would only cost memory and cause passes. */
export const keepOwn = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name.includes('atoll.dev/')));

const readStatus = ({ status, spec }: PodFields): Pick<PodProjection, 'phase' | 'nodeLost' | 'ip' | 'node'> => ({
  phase: status?.phase ?? 'Unknown',
  nodeLost: status?.reason === 'NodeLost',
  ...optional('ip', status?.podIP === '' ? undefined : status?.podIP),
  ...optional('node', spec?.nodeName),
});

const readCreatedAt = (text: string | undefined): { readonly createdAtMs?: number } => {
  const createdAtMs = Date.parse(text ?? '');
  return Number.isNaN(createdAtMs) ? {} : { createdAtMs };
};

const readIdentity = ({
  metadata,
}: KubeObject): Pick<
  PodProjection,
  'namespace' | 'name' | 'uid' | 'ordinal' | 'terminating' | 'annotations' | 'createdAtMs'
> => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid ?? '',
  ordinal: readOrdinal(metadata.name),
  terminating: metadata.deletionTimestamp !== undefined,
  annotations: keepOwn(metadata.annotations),
  ...readCreatedAt(metadata.creationTimestamp),
});

export const projectPod = (object: KubeObject): PodProjection => {
  const pod = object as PodFields;
  const { labels = {} } = object.metadata;
  return {
    ...readIdentity(object),
    ...readStatus(pod),
    labels,
    component: labels[LABEL.component] === 'sentinel' ? 'sentinel' : 'redis',
    ready: conditionOf(pod, 'Ready')?.status === 'True',
    restarts: readRestarts(pod),
    ...optional('waitingReason', readWaitingReason(pod)),
    ...optional('lastWords', readLastWords(pod)),
    ...optional('image', pod.spec?.containers?.[0]?.image),
    ...optional('memoryLimitBytes', memoryLimitBytes(pod.spec?.containers?.[0]?.resources)),
    ...optional('controllerRevision', labels['controller-revision-hash']),
  };
};
