/** Whether a RedisCluster has not been Ready for longer than what passes by itself. */
import type { ClusterView } from './cluster-view.ts';

/** By the time that the last status carries, which outlives this agent. */
export const isLongNotReady = ({ snapshot, nowMs, policy }: ClusterView): boolean => {
  const last = snapshot.resource.status?.conditions?.find(({ type }) => type === 'Ready');
  return last?.status === 'False' && nowMs - Date.parse(last.lastTransitionTime) >= policy.stalledAfterMs;
};
