import { LEFT_BEHIND } from '#domain';
import type { PlannedStatus } from '#domain';
import type { ClusterView } from './cluster-view.ts';
import { presentField } from './present-field.ts';

/** The last status as it was written, for passes that may not tell anything new. */
export const keepStatus = ({ snapshot, spec, dataSetId, renderVersion }: ClusterView): PlannedStatus => {
  const last = snapshot.resource.status ?? {};
  const { phase = 'Pending', readyPods = 0, size = spec.size, sentinels = [], shards = [], conditions = [] } = last;
  return {
    phase,
    conditions: conditions.map(({ lastTransitionTime: _, ...condition }) => condition),
    readyPods,
    size,
    ...presentField('currentPrimary', last.currentPrimary),
    ...presentField('targetPrimary', last.targetPrimary),
    ...presentField('primaryTerm', last.primaryTerm),
    ...presentField('primaryVersion', last.primaryVersion),
    ...presentField('primaryEngine', last.primaryEngine),
    ...presentField('engineVersion', last.engineVersion),
    pods: shards.flatMap((shard) => shard.pods),
    sentinels,
    ...presentField('endpoints', last.endpoints),
    dataSetId,
    renderVersion,
    ...presentField('config', last.config),
    ...presentField('credentials', last.credentials),
    ...presentField('rollout', last.rollout),
    setAside: (last.setAside ?? []).filter(({ reason }) => reason === LEFT_BEHIND),
    ...presentField('capabilities', last.capabilities),
  };
};
