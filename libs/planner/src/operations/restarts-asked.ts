/**
 * Pods that a RedisOperation Restart still waits for: those that are the very pods that ran when it began. Told by uid
 * and not by time, since the agent's clock and the API server's may differ, and a pod would be restarted for ever.
 */
import { ownValue } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { findBegunOperation } from './open-operations.ts';

export const POD_NOTE = 'pod/';

/** Names of data pods and Sentinels that the roll-out shall treat as outdated. Empty while no Restart is on. */
export const restartsAsked = (view: ClusterView): ReadonlySet<string> => {
  const noted = findBegunOperation(view, 'Restart')?.status?.noted ?? {};
  const pods = [...view.dataPods, ...view.sentinelPods];
  return new Set(pods.filter(({ name, uid }) => ownValue(noted, `${POD_NOTE}${name}`) === uid).map(({ name }) => name));
};

/** A pod that is not there and, by its ordinal, is not to come back: an operation must not wait for it. */
export const isScaledAway = ({ names, spec }: ClusterView, name: string): boolean => {
  const at = name.lastIndexOf('-');
  const ordinal = Number(name.slice(at + 1));
  if (name.slice(0, at) === names.redis) return ordinal >= spec.size;
  const sentinels = spec.mode === 'Sentinel' ? spec.sentinel.replicas : 0;
  return name.slice(0, at) === names.sentinel && ordinal >= sentinels;
};
