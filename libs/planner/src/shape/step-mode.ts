/**
 * The next mode on the way to the wanted one. Up (Standalone → Replication → Sentinel) at once: the running primary goes
 * on, and what is added joins it. Down only when nobody can act against it any more: Sentinels are left after they watch
 * nothing (one that still did could promote a pod behind the agent's back), Standalone is reached after the last replica
 * is gone and pod 0 is primary, since every pod of a Standalone starts as primary.
 */
import type { ClusterView } from '../cluster-view.ts';
import { judgeSentinels } from '../judge-sentinels.ts';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';

export const stepMode = ({ view, primary }: ShapeContext): ShapeStep => {
  const from = view.spec.mode;
  const to = view.wanted.mode;
  if (from === to) return { change: {} };
  if (from === 'Sentinel') return leaveSentinel(view);
  if (to !== 'Standalone') return { change: { mode: to } };
  if (view.spec.size > 1 || view.dataPods.length > 1 || primary?.ordinal !== 0) {
    return hold('LeavingReplication', 'The mode becomes Standalone once pod 0 is the primary and the only pod.');
  }
  return { change: { mode: to } };
};

const leaveSentinel = (view: ClusterView): ShapeStep => {
  if (!areSentinelsSilent(view)) {
    return hold('LeavingSentinel', 'The Sentinels are told to watch nothing before they are removed.');
  }
  // By way of Replication also with one pod: Standalone has its own gates.
  const change = { mode: 'Replication' } as const;
  if (view.wanted.mode === 'Replication') return { change };
  return hold('LeavingReplication', 'The mode becomes Standalone once pod 0 is the primary and the only pod.', change);
};

/** A majority answers and nobody of them watches anything: the rest is too few for a failover. */
export const areSentinelsSilent = (view: ClusterView): boolean => {
  const { majorityAnswers, failoverInProgress } = judgeSentinels(view);
  if (view.sentinelPods.length === 0) return true;
  return majorityAnswers && !failoverInProgress && view.sentinelPods.every((pod) => !watches(pod.facts));
};

const watches = (facts: ClusterView['sentinelPods'][number]['facts']): boolean => facts.reachable && facts.monitors;

/** The Sentinels are to watch nothing from now on: the mode is left, or everything is put to sleep. */
export const leavesSentinel = (view: ClusterView): boolean =>
  view.live.mode === 'Sentinel' && (view.wanted.mode !== 'Sentinel' || sleeps(view));

/** Hibernation needs what the volumes hold to be everything. */
export const sleeps = ({ wanted, live }: ClusterView): boolean =>
  wanted.hibernated && live.persistenceEnabled === true && live.storage?.type === 'PersistentVolume';
