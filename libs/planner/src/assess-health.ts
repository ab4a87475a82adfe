/** How well the data set stands right now, in the words the conditions are made of. Decides nothing. */
import { podName } from '#manifests';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';
import { explainStuckPod, findStuckPods } from './explain-stuck-pod.ts';
import type { StuckPod } from './explain-stuck-pod.ts';
import { whyRefusesForDisk } from './refuses-for-disk.ts';
import { followsAddressOf } from './replication-role.ts';
import { REDIS_PORT } from '#domain';
import type { SentinelFacts } from '#domain';

export interface Health {
  readonly primary: AnsweringPod | undefined;
  /** Replicas that follow the primary with their link up. */
  readonly linked: readonly DataPod[];
  /** A write would be taken: a primary, and as many linked replicas as it wants (min-replicas-to-write). */
  readonly takesWrites: boolean;
  readonly readyPods: number;
  /** What keeps it from being whole, each as a stable code and a sentence; empty when all is well. */
  readonly defects: readonly { readonly reason: string; readonly message: string }[];
  /** Pods that do not start, and why. */
  readonly stuck: readonly StuckPod[];
}

export const assessHealth = (view: ClusterView, primary: AnsweringPod | undefined): Health => {
  const linked = primary === undefined ? [] : view.dataPods.filter((pod) => isLinkedTo(pod, primary));
  const loading = primary?.facts.loading === true;
  return {
    primary,
    linked,
    takesWrites:
      primary !== undefined &&
      !loading &&
      whyRefusesForDisk(primary) === undefined &&
      linked.length >= replicasToWrite(view, primary),
    readyPods: view.dataPods.filter((pod) => pod.ready && !pod.terminating).length,
    defects: [
      ...findBoundless(view),
      ...findPrimaryDefects(view, primary),
      ...findPodDefects(view),
      ...findLinkDefects(view, linked),
      ...findSentinelDefects(view, primary),
    ],
    stuck: findStuckPods([...view.dataPods, ...view.sentinelPods], view.snapshot),
  };
};

/** As the primary runs now, else as the spec will have it. */
export const replicasToWrite = ({ spec }: ClusterView, { facts }: AnsweringPod): number =>
  Number(facts.config['min-replicas-to-write'] ?? spec.failover.minReplicasToWrite);

export const isLinkedTo = (pod: DataPod, primary: AnsweringPod): boolean =>
  pod.name !== primary.name && answers(pod) && pod.facts.linkUp === true && followsAddressOf(pod, primary);

/** Stable reason of a server whose answers pass the bounds of the agent. */
export const ANSWERS_TOO_LARGE = 'RedisAnswersTooLarge';

type Defects = { reason: string; message: string }[];

const findPrimaryDefects = (view: ClusterView, primary: AnsweringPod | undefined): Defects => {
  if (primary === undefined) return [{ reason: 'NoPrimary', message: `${view.key.name} has no confirmed primary.` }];
  return primary.facts.loading ? [{ reason: 'Loading', message: `${primary.name} is loading its data.` }] : [];
};

/** The agent ends such a connection to save itself. It proves nothing of the process, so nothing is failed over for it. */
const findBoundless = ({ dataPods, sentinelPods }: ClusterView): Defects => {
  const pods = [...dataPods, ...sentinelPods].filter(({ facts }) => !facts.reachable && facts.reason === 'TOO_LARGE');
  if (pods.length === 0) return [];
  const names = pods.map(({ name }) => name).join(', ');
  const message = `The answers of ${names} are larger than any of Redis is, or never end, so they are not read. Look at spec.engine.image and the log of the pod.`;
  return [{ reason: ANSWERS_TOO_LARGE, message }];
};

const findPodDefects = (view: ClusterView): Defects => {
  const expected = Array.from({ length: view.spec.size }, (_, ordinal) => podName(view.names.redis, ordinal));
  const notReady = expected.flatMap((name) => {
    const pod = view.dataPods.find((candidate) => candidate.name === name);
    if (pod?.ready === true && !pod.terminating) return [];
    const why = pod === undefined ? undefined : explainStuckPod(pod, view.snapshot);
    return [why === undefined ? name : `${name} (${why})`];
  });
  if (notReady.length === 0) return [];
  return [{ reason: 'PodsNotReady', message: `Not ready: ${notReady.join(', ')}.` }];
};

const findLinkDefects = ({ spec }: ClusterView, linked: readonly DataPod[]): Defects => {
  const missing = spec.size - 1 - linked.length;
  if (missing <= 0) return [];
  return [
    {
      reason: 'ReplicasNotLinked',
      message: `${linked.length} of ${spec.size - 1} replicas are linked to the primary.`,
    },
  ];
};

/**
 * All watch the primary, and a majority sees everybody. One that was just told to look anew (forget-lost-replicas) is no
 * defect: the others can fail over, and it is back within seconds.
 */
const findSentinelDefects = (view: ClusterView, primary: AnsweringPod | undefined): Defects => {
  if (view.spec.mode !== 'Sentinel') return [];
  const { replicas } = view.spec.sentinel;
  const watching = view.sentinelPods.filter(({ facts }) => watches(facts, primary));
  const seeing = watching.filter(({ facts }) => seesEverybody(facts, view));
  if (watching.length >= replicas && seeing.length * 2 > replicas) return [];
  const count = Math.min(watching.length, seeing.length);
  return [
    {
      reason: 'SentinelsNotAgreed',
      message: `${count} of ${replicas} Sentinels see the primary, each other and all replicas.`,
    },
  ];
};

const watches = (facts: SentinelFacts, primary: AnsweringPod | undefined): boolean =>
  facts.reachable &&
  facts.monitors &&
  primary !== undefined &&
  facts.primaryHost === primary.ip &&
  facts.primaryPort === REDIS_PORT;

const seesEverybody = (facts: SentinelFacts, { spec }: ClusterView): boolean =>
  facts.reachable &&
  facts.quorumOk &&
  facts.otherSentinels === spec.sentinel.replicas - 1 &&
  facts.knownReplicas >= spec.size - 1;
