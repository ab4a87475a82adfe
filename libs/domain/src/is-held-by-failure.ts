/**
 * Which later actions of a plan an action that failed holds up. Decided from the two actions alone. Invariant: what the
 * later one rests on is done before it: the record before a promotion, a promotion before its followers and labels, the
 * label off before it is given to another, the fence before what it keeps is set aside. Nothing else may keep a repair
 * (promotion, followers, Sentinels, labels, fences) or a change of users from being tried: without that a Secret that
 * somebody else made under a name of ours, a quota, an admission policy or a typo in the spec would stop failovers and
 * let a removed user stay.
 */
import type { Action, ActionKind } from './plan.ts';

/** Whoever fails at these knows no more who is primary: everything behind them was planned for another world. */
const DECISIVE: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'WriteRecord',
  'PromotePod',
  'FailOverBySentinel',
  'SwitchOver',
  'SetAside',
]);

/** Each reads its own precondition on the server right before, and rests on nothing but what is decisive. */
const REPAIRS: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'WriteRecord',
  'PromotePod',
  'FailOverBySentinel',
  'ReplicateFrom',
  'MonitorPrimary',
  'LabelRole',
  'FencePod',
  'SetAside',
  'ResumePod',
  'SetUsers',
]);

/** Reason of the actions that set the fence of spec.fencing. */
export const FENCING_REASON = 'Fencing';

/** Reason of the hand-over of a primary whose pod is being deleted. */
export const ENDING_REASON = 'PrimaryIsEnding';

/** A planned hand-over can wait; a primary that is about to end cannot. */
const isRepair = ({ kind, reason }: Action): boolean =>
  REPAIRS.has(kind) ||
  (kind === 'SetConfig' && reason === FENCING_REASON) ||
  (kind === 'SwitchOver' && reason === ENDING_REASON);

/** Of repairs that rest on another one, by the kind of the failed one. */
const NEEDED_BY: Readonly<Partial<Record<ActionKind, ActionKind>>> = {
  // The role Service must never select two.
  LabelRole: 'LabelRole',
  FencePod: 'SetAside',
};

/**
 * `unanswered`: nobody said whether the failed one was done. Nothing rests on a Secret for clients, so its refusal holds
 * up nothing; but where no answer comes, each further write may cost as long, and only repairs are worth that.
 */
export const isHeldByFailure = (later: Action, failed: Action, unanswered: boolean): boolean => {
  // Rests on nothing but the Secret, which it reads.
  if (later.kind === 'SetUsers') return false;
  if (DECISIVE.has(failed.kind)) return true;
  if (isRepair(later)) return NEEDED_BY[failed.kind] === later.kind;
  return unanswered || failed.kind !== 'PublishConnection';
};
