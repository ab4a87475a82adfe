/**
 * Why a restart that could happen now waits all the same: the user holds it (paused, canary reached, no approval, no open
 * window), the new memory limit is too small for the data, or two other RedisClusters are in disruption. A held rollout disturbs nobody, so it gives its turn to others.
 * What a RedisOperation asks for waits for its turn only, and what gets a missing copy back waits for nothing of that.
 */
import { planHash } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { MEMORY_TOO_SMALL } from '../hold-memory.ts';
import type { NextRestart } from './choose-restart.ts';
import type { Unrest } from './explain-unrest.ts';
import { explainMemory } from './explain-memory.ts';
import { findMaintenanceWindow } from './find-maintenance-window.ts';
import type { OutdatedPods } from './find-outdated.ts';

/** At most so many RedisClusters of one agent in disruption (04, Rolling change). */
export const MAX_IN_DISRUPTION = 2;

const HOLDS = {
  paused: 'RolloutPaused',
  partition: 'PartitionReached',
  window: 'OutsideMaintenanceWindow',
  approval: 'ApprovalAwaited',
  turn: 'WaitingForTurn',
  memory: MEMORY_TOO_SMALL,
} as const;
const HOLD_REASONS: ReadonlySet<string> = new Set(Object.values(HOLDS));

type Told = { readonly reason: string; readonly turn?: 'GivenBack' } | undefined;

/** Whether a rollout in this state is under way, and not held. */
export const isUnderWay = (rollout: Told): boolean => rollout !== undefined && !HOLD_REASONS.has(rollout.reason);

/** Whether it counts as a disruption of its RedisCluster: it is under way, and did not give its turn back. */
export const takesTurn = (rollout: Told): boolean => isUnderWay(rollout) && rollout?.turn === undefined;

/** Whether it waits for others to end theirs. */
export const waitsForTurn = (rollout: Told): boolean => rollout?.reason === HOLDS.turn;

/**
 * Whether it goes on by itself, now or when others have ended theirs. Whoever waits for the change (kstatus) is not told
 * that it is done; what the user holds is as the user wants it.
 */
export const isAwaited = (rollout: Told): boolean => isUnderWay(rollout) || waitsForTurn(rollout);

export const explainHold = (
  view: ClusterView,
  next: NextRestart,
  outdated: OutdatedPods,
  consent: (planHash: string) => boolean,
): Unrest | undefined =>
  (next.kind === 'sentinel' ? undefined : explainMemory(view, next.pod)) ??
  (isRepair(next) ? undefined : explainChosenHold(view, next, outdated, consent));

/** It gets a copy back that is missing: it waits for no window, no approval and no turn. */
export const isRepair = (next: NextRestart): boolean => next.kind === 'replica' && next.repairs;

const explainChosenHold = (
  view: ClusterView,
  next: NextRestart,
  outdated: OutdatedPods,
  consent: (planHash: string) => boolean,
): Unrest | undefined =>
  (outdated.asked.has(next.pod.name) ? undefined : explainUsersHold(view, next, outdated, consent)) ??
  explainTurn(view);

const explainUsersHold = (
  view: ClusterView,
  next: NextRestart,
  outdated: OutdatedPods,
  consent: (planHash: string) => boolean,
): Unrest | undefined => {
  const { updateStrategy } = view.spec;
  if (updateStrategy.paused) {
    return { reason: HOLDS.paused, message: 'spec.updateStrategy.paused holds it; set it to false to go on.' };
  }
  return explainPartition(view, next, outdated) ?? explainWindow(view) ?? explainApproval(view, next, consent);
};

const explainPartition = (view: ClusterView, next: NextRestart, { data }: OutdatedPods): Unrest | undefined => {
  const { partition } = view.spec.updateStrategy;
  const updated = view.dataPods.length - data.length;
  if (partition === undefined || next.kind === 'sentinel' || updated < partition) return undefined;
  const message = `${updated} data pods run the new revision, as many as spec.updateStrategy.partition allows.`;
  return { reason: HOLDS.partition, message };
};

export const explainWindow = ({ spec, nowMs }: ClusterView): Unrest | undefined => {
  if (spec.maintenanceWindows.length === 0) return undefined;
  const state = findMaintenanceWindow(spec.maintenanceWindows, nowMs);
  if (state.open) return undefined;
  const opens = state.opensAtMs === undefined ? 'none ever opens' : `the next opens ${formatMinute(state.opensAtMs)}`;
  return { reason: HOLDS.window, message: `No maintenance window is open; ${opens}.` };
};

const formatMinute = (instantMs: number): string => `${new Date(instantMs).toISOString().slice(0, 16)}Z`;

/** The hash names the change itself: consent to one template is none to the next. */
const explainApproval = (
  view: ClusterView,
  next: NextRestart,
  consent: (planHash: string) => boolean,
): Unrest | undefined => {
  if (view.spec.updateStrategy.type !== 'OnApproval' || next.kind !== 'primary') return undefined;
  const hash = rolloutHash(view);
  if (consent(hash)) return undefined;
  const message = `Every replica is updated; the primary ${next.pod.name} waits for a RedisOperation Consent with planHash ${hash}.`;
  return { reason: HOLDS.approval, message };
};

/** The same that a RedisOperation Plan tells for this spec, so that a person may consent before or after it is applied. */
export const rolloutHash = ({ snapshot }: ClusterView): string => planHash(snapshot.resource.spec);

/** One that is in disruption already goes on; its turn is not given up in the middle. */
export const explainTurn = ({ snapshot }: ClusterView): Unrest | undefined => {
  const elsewhere = snapshot.disruptionsElsewhere ?? 0;
  if (elsewhere < MAX_IN_DISRUPTION || takesTurn(snapshot.resource.status?.rollout)) return undefined;
  const message = `${elsewhere} other RedisClusters of this agent are being rolled; this one follows.`;
  return { reason: HOLDS.turn, message };
};
