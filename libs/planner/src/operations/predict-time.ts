/**
 * How long one action takes, for previews: measured on data sets of a few keys, plus the copy or the load of the data.
 * Pods that first have to be scheduled or pull an image take longer.
 */
import type { Action, RedisClusterSnapshot } from '#domain';
import { isReachable } from './follow-pods.ts';

const RESTART_DATA_POD_MS = 8_000;
const RESTART_SENTINEL_MS = 8_000;
const SWITCH_OVER_MS = 3_000;
const STEP_MS = 300;
/** What a replica loads of a copy over the network. */
const COPY_BYTES_PER_MS = 50_000;

export const predictMs = (action: Action, snapshot: RedisClusterSnapshot): number => {
  if (action.kind === 'SwitchOver') return SWITCH_OVER_MS;
  if (action.kind !== 'EvictPod' && action.kind !== 'DeletePod') return STEP_MS;
  const isSentinel = snapshot.pods.some((pod) => pod.name === action.pod && pod.component === 'sentinel');
  if (isSentinel) return RESTART_SENTINEL_MS;
  const bytes = Object.values(snapshot.redis).map((facts) => (isReachable(facts) ? (facts.usedMemoryBytes ?? 0) : 0));
  return RESTART_DATA_POD_MS + Math.max(0, ...bytes) / COPY_BYTES_PER_MS;
};
