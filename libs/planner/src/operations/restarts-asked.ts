/**
 * Pods that a RedisOperation Restart still waits for: those that are the very pods that ran when it began. Told by uid
 * and not by time, since the agent's clock and the API server's may differ, and a pod would be restarted for ever.
 */
import type { ClusterView } from '../cluster-view.ts';
import { findBegunOperation } from './open-operations.ts';

export const POD_NOTE = 'pod/';

/** Names of data pods and Sentinels that the roll-out shall treat as outdated. Empty while no Restart is on. */
export const restartsAsked = (view: ClusterView): ReadonlySet<string> => {
  const noted = findBegunOperation(view, 'Restart')?.status?.noted ?? {};
  const pods = [...view.dataPods, ...view.sentinelPods];
  return new Set(pods.filter(({ name, uid }) => noted[`${POD_NOTE}${name}`] === uid).map(({ name }) => name));
};
