/**
 * What a tombstone means here (03 rules 1 to 3). The only way by which the link ever deletes. Invariant: only an object
 * that carries the tombstone's own hubUid is touched, and no more objects are deleted in five minutes than the agent's
 * values say, unless a person approved these very objects: a bug in the hub is the scenario.
 */
import type { KubeObject } from '#domain';
import type { ObjectOutcome, Tombstone } from '#protocol';
import { explainForbiddenNamespace } from './explain-forbidden.ts';
import type { Bounds } from './explain-forbidden.ts';
import { readHubVersion } from './hub-version.ts';
import { outcomeOf, rejected } from './outcome.ts';

export const DELETE_WINDOW_MS = 5 * 60_000;

export interface TombstoneQuestion {
  readonly tombstone: Tombstone;
  /** Read from the server right before. */
  readonly live: KubeObject | undefined;
  readonly bounds: Bounds;
  /** Wall times of the deletes without approval that this agent remembers. */
  readonly recentDeletesMs: readonly number[];
  readonly nowMs: number;
}

export type TombstoneDecision =
  | { readonly kind: 'OUTCOME'; readonly outcome: ObjectOutcome; readonly remember: boolean }
  | { readonly kind: 'DELETE'; readonly live: KubeObject; readonly counts: boolean }
  | { readonly kind: 'ORPHAN'; readonly live: KubeObject };

const finished = (outcome: ObjectOutcome): TombstoneDecision => ({ kind: 'OUTCOME', outcome, remember: true });
const refused = (outcome: ObjectOutcome): TombstoneDecision => ({ kind: 'OUTCOME', outcome, remember: false });

export function decideTombstone(question: TombstoneQuestion): TombstoneDecision {
  const { tombstone, live, bounds } = question;
  const deletes = tombstone.operation === 'DELETE';
  if (live === undefined || readHubVersion(live)?.hubUid !== tombstone.hubUid) {
    return finished(outcomeOf(tombstone, deletes ? 'DELETED' : 'ORPHANED'));
  }
  const forbidden = explainForbiddenNamespace(bounds, tombstone.namespace);
  if (forbidden !== undefined) return refused(rejected(tombstone, 'NOT_PERMITTED_HERE', forbidden));
  if (!deletes) return { kind: 'ORPHAN', live };
  if (live.metadata.deletionTimestamp !== undefined) return finished(terminating(tombstone));
  return decideDelete(question, live);
}

/** The answer while finalizers run; the agent says DELETED by itself when the object is gone. */
export const terminating = (tombstone: Tombstone): ObjectOutcome =>
  outcomeOf(tombstone, 'WAITING', { message: 'The object is being deleted; its finalizers run.', retryable: true });

function decideDelete(question: TombstoneQuestion, live: KubeObject): TombstoneDecision {
  const { tombstone, bounds, nowMs } = question;
  const { acceptDeletes, maxDeletes } = bounds.limits;
  if (!acceptDeletes) {
    return refused(rejected(tombstone, 'NOT_PERMITTED_HERE', "This agent's values accept no deletes from the hub."));
  }
  if (isApproved(tombstone, nowMs)) return { kind: 'DELETE', live, counts: false };
  const recent = question.recentDeletesMs.filter((at) => Math.abs(nowMs - at) < DELETE_WINDOW_MS);
  if (recent.length < maxDeletes) return { kind: 'DELETE', live, counts: true };
  const message = `This agent's values allow ${maxDeletes} deletes in 5 minutes, and they are used up; it is tried again later.`;
  return refused({ ...rejected(tombstone, 'NOT_PERMITTED_HERE', message), retryable: true });
}

const isApproved = ({ hubUid, approval }: Tombstone, nowMs: number): boolean =>
  approval !== undefined && approval.hubUids.includes(hubUid) && nowMs < Date.parse(approval.expiresAt);
