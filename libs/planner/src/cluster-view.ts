/**
 * One pass's picture in the terms the rules speak: data pods and Sentinels with their facts, the resolved spec held to
 * what this release can change in place, the record, and who is primary. Built once; rules only read it.
 */
import { dataSetIdOf, ownValue } from '#domain';
import type {
  DataSetId,
  DataSetRecord,
  ObjectKey,
  PodSnapshot,
  RedisClusterSnapshot,
  RedisNodeFacts,
  ResolvedSpec,
  SentinelFacts,
} from '#domain';
import { CURRENT_RENDER_VERSION, nameObjects } from '#manifests';
import type { ObjectNames } from '#manifests';
import type { PlannerInput, PlannerPolicy } from './planner-input.ts';
import { presentField } from './present-field.ts';
import { acceptSpec } from './accept-spec.ts';
import type { SpecRefusal } from './accept-spec.ts';
import { holdAtLive } from './hold-at-live.ts';
import { withSurge } from './rollout/surge.ts';
import { readLiveShape } from './read-live-shape.ts';
import type { LiveShape } from './read-live-shape.ts';

export type ReachableRedis = Extract<RedisNodeFacts, { reachable: true }>;
export type ReachableSentinel = Extract<SentinelFacts, { reachable: true }>;

export interface DataPod extends PodSnapshot {
  readonly facts: RedisNodeFacts;
}
export interface SentinelPod extends PodSnapshot {
  readonly facts: SentinelFacts;
}
/** A data pod whose Redis answered. */
export type AnsweringPod = DataPod & { readonly facts: ReachableRedis };

/** A change of the data set's shape that is not done yet. */
export interface ShapeNote {
  /** Stable code in CamelCase. */
  readonly reason: string;
  /** What is being changed or waited for, with the object. */
  readonly message: string;
}

export interface ClusterView {
  readonly snapshot: RedisClusterSnapshot;
  readonly nowMs: number;
  readonly policy: PlannerPolicy;
  readonly key: ObjectKey;
  readonly generation: number;
  readonly dataSetId: DataSetId;
  readonly names: ObjectNames;
  readonly renderVersion: number;
  /** The spec that is rendered and kept now: one step on the way from what is live to `wanted` (shape/). */
  readonly spec: ResolvedSpec;
  /** Where it is led to: the user's spec, except for what `refusals` name. */
  readonly wanted: ResolvedSpec;
  readonly live: LiveShape;
  /** What is still to be changed, and what each change waits for; empty once `spec` is `wanted`. */
  readonly shapeNotes: readonly ShapeNote[];
  readonly refusals: readonly SpecRefusal[];
  /** False when nothing may be rendered from the spec. */
  readonly specUsable: boolean;
  /** In the order of their ordinals. */
  readonly dataPods: readonly DataPod[];
  readonly sentinelPods: readonly SentinelPod[];
  /** The ConfigMap's record, or what the status still tells of a lost one. */
  readonly record: DataSetRecord | undefined;
}

const UNKNOWN_FACTS = { reachable: false, reason: 'NO_ADDRESS', message: 'The pod was not asked.' } as const;

export const buildClusterView = ({ snapshot, nowMs, policy }: PlannerInput): ClusterView => {
  const { resource } = snapshot;
  const dataSetId = dataSetIdOf(resource);
  const names = nameObjects(resource.metadata.name, dataSetId);
  const ordered = [...snapshot.pods].sort((a, b) => a.ordinal - b.ordinal);
  const pods = ordered.filter((pod) => pod.component === 'redis');
  const dataPods = pods.map((pod) => addFacts(pod, ownValue(snapshot.redis, pod.name) ?? UNKNOWN_FACTS));
  const live = readLiveShape(snapshot, names);
  const record = snapshot.record ?? recordOfStatus(snapshot, dataSetId, live);
  const renderVersion = record?.renderVersion ?? resource.status?.renderVersion ?? CURRENT_RENDER_VERSION;
  const accepted = acceptSpec({ snapshot, live, record, renderVersion, dataPods, nowMs });
  const wanted = withSurge(accepted.wanted, record);
  return {
    snapshot,
    nowMs,
    policy,
    key: { namespace: resource.metadata.namespace ?? '', name: resource.metadata.name },
    generation: resource.metadata.generation ?? 0,
    dataSetId,
    names,
    renderVersion,
    ...accepted,
    wanted,
    spec: holdAtLive(wanted, live),
    live,
    shapeNotes: [],
    dataPods,
    sentinelPods: ordered
      .filter((pod) => pod.component === 'sentinel')
      .map((pod) => ({ ...pod, facts: ownValue(snapshot.sentinels, pod.name) ?? UNKNOWN_FACTS })),
    record,
  };
};

/** Why a container ended before is of no interest once its server answers. */
const addFacts = ({ lastWords, ...pod }: PodSnapshot, facts: RedisNodeFacts): DataPod => ({
  ...pod,
  facts,
  ...(facts.reachable ? {} : presentField('lastWords', lastWords)),
});

/**
 * A record deleted by hand does not make creation legal again: the status remembers that there was one (04, Never 5). What
 * it noted of old volumes is still told to the pods.
 */
const recordOfStatus = (
  snapshot: RedisClusterSnapshot,
  dataSetId: DataSetId,
  { returning }: LiveShape,
): DataSetRecord | undefined => {
  const status = snapshot.resource.status;
  if (status?.primaryTerm === undefined) return undefined;
  return {
    dataSetId,
    primaryTerm: status.primaryTerm,
    renderVersion: status.renderVersion ?? CURRENT_RENDER_VERSION,
    ...presentField('primaryPod', status.targetPrimary ?? status.currentPrimary),
    ...presentField('primaryVersion', status.primaryVersion),
    ...presentField('primaryEngine', status.primaryEngine),
    ...(Object.keys(returning).length === 0 ? {} : { returning }),
  };
};

export const answers = (pod: DataPod): pod is AnsweringPod => pod.facts.reachable;
