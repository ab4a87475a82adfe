/**
 * The settings ConfigMap is gone, or lost its label, while the data set is there: nothing tells its mode and persistence.
 * It is rendered again, and nothing else changes with it: as many pods as run, asleep if it sleeps, the mode that the
 * objects still tell. What is wanted is led to from there by the other steps. Without this the loss of one ConfigMap would
 * carry out every change of shape at once, past all gates: wake what sleeps, remove running members, start pods alone.
 */
import type { Mode, ResolvedSpec } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import type { ShapeStep } from './shape-step.ts';

export const stepFromUnknown = (view: ClusterView): ShapeStep => {
  const { live, wanted } = view;
  if (live.size === undefined) return { change: wanted };
  const size = live.size || wanted.size;
  return {
    change: {
      ...wanted,
      ...stayAsleep(view),
      size,
      mode: chooseMode(view, size),
      sentinel: { ...wanted.sentinel, replicas: live.sentinels ?? wanted.sentinel.replicas },
    },
  };
};

const stayAsleep = ({ wanted, live: { running } }: ClusterView): Partial<ResolvedSpec> =>
  wanted.hibernated && running.redis !== undefined
    ? { runningPods: { redis: running.redis, sentinel: running.sentinel ?? 0 } }
    : {};

const chooseMode = ({ wanted, live: { running } }: ClusterView, size: number): Mode => {
  if (running.sentinel !== undefined) return 'Sentinel';
  return wanted.mode === 'Standalone' && size > 1 ? 'Replication' : wanted.mode;
};
