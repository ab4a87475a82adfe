/**
 * The delete breaker (03 rule 2): so many deletes within the window for one agent, by one actor, and in the fleet. What is
 * beyond waits until a person approves these very objects, however long that takes: time alone is no reason to believe
 * that somebody meant it. Without it one bug or one script empties every cluster in a second. Letting go (ORPHAN)
 * destroys nothing and is not judged; what a person approved is not counted.
 */
export const BREAKER_WINDOW_MS = 5 * 60_000;

export interface DeleteLimits {
  readonly perAgent: number;
  readonly perActor: number;
  readonly fleet: number;
}

/** Deletes that passed within the window without an approval. */
export interface PassedDeletes {
  readonly byAgent: number;
  /** Of the same actor; 0 where nobody is known to have asked. */
  readonly byActor: number;
  readonly inFleet: number;
}

export type BreakerVerdict = 'PASS' | 'AGENT_LIMIT' | 'ACTOR_LIMIT' | 'FLEET_LIMIT';

/** Whether one more delete may pass. */
export function judgeDelete(passed: PassedDeletes, limits: DeleteLimits): BreakerVerdict {
  if (passed.byAgent >= limits.perAgent) return 'AGENT_LIMIT';
  if (passed.byActor >= limits.perActor) return 'ACTOR_LIMIT';
  return passed.inFleet >= limits.fleet ? 'FLEET_LIMIT' : 'PASS';
}

const WHAT_TO_DO =
  'Nothing is deleted before an ADMIN approves it: mutation approveDeletes(input: {redisClusterIds: [its id, …]}). ' +
  'To keep what is in the member cluster instead: forgetRedisCluster.';

/** The sentence that a person reads beside DELETE_BREAKER. */
export function explainHold(verdict: Exclude<BreakerVerdict, 'PASS'>, limits: DeleteLimits): string {
  switch (verdict) {
    case 'AGENT_LIMIT':
      return `More than ${limits.perAgent} deletes for this agent within 5 minutes. ${WHAT_TO_DO}`;
    case 'ACTOR_LIMIT':
      return `More than ${limits.perActor} deletes by one actor within 5 minutes. ${WHAT_TO_DO}`;
    case 'FLEET_LIMIT':
      return `More than ${limits.fleet} deletes in the fleet within 5 minutes. ${WHAT_TO_DO}`;
  }
}

/** For a delete that was approved, and of which nothing was heard before the approval expired. */
export const APPROVAL_IS_OVER = `The approval of this delete expired before the agent took it. ${WHAT_TO_DO}`;

/** As above, but the object that was meant is not there any more: who approves it again must know that it is about another one. */
export const APPROVAL_IS_OVER_AND_OBJECT_BACK =
  'The approval of this delete expired, and what is there now has another uid than what it was about: it was put back since, as by a ' +
  `restored backup. Approved again, the delete is about what is there now. ${WHAT_TO_DO}`;

/** For a delete that the breaker holds, that was let go instead, and is asked for once more before the agent has answered. */
export const STILL_HELD = `The breaker holds this delete back since it was asked for first. ${WHAT_TO_DO}`;

export interface HoldReason {
  readonly code: 'DELETE_BEFORE_RESTORE';
  readonly message: string;
}

/** The agent knows more of this hub than the hub itself, which so was restored without having noticed. */
export const HOLD_BEFORE_RESTORE: HoldReason = {
  code: 'DELETE_BEFORE_RESTORE',
  message:
    'Asked for before the database of the hub was restored; what was decided since is lost, so nothing is deleted before ' +
    'somebody says so again: an ADMIN by the mutation approveDeletes, or deleteRedisCluster once more. ' +
    'To keep what is in the member cluster instead: forgetRedisCluster.',
};

/**
 * Waits because of what happened since it was asked for; whoever asks for it now says so again. `heldFor`: of the object's row,
 * not the code of its delivery, which a late outcome may overwrite; null counts as the breaker, which waits for an ADMIN.
 */
export const isHeldForPast = (heldFor: string | null): boolean =>
  heldFor === 'DELETE_BEFORE_RESTORE' || heldFor === 'DELETE_BEFORE_REPLACEMENT';

/** Of a row that is held or was when it was let go: null where it is not held at all. */
export const isHeldByBreaker = (heldFor: string | null): boolean => heldFor === 'DELETE_BREAKER';
