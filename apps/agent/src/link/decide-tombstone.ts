/**
 * What a tombstone means here (03 rules 1 to 3). The only way by which the link ever deletes. Invariant: only an object
 * that carries the tombstone's own hubUid is touched, one that came back after this very delete was asked for, approved
 * or carried out is kept (somebody restored it, which is the later wish), and no more objects are deleted in five minutes
 * than the agent's values say (none at all when more than that come at once), unless a person approved these very objects
 * until a time to come: a bug in the hub is the scenario. The tombstone's uids tell what was meant; a whole cluster that is
 * restored has the same uids again, so what was carried out here is remembered as well.
 */
import type { KubeObject } from '#domain';
import type { ObjectOutcome, Tombstone } from '#protocol';
import { explainForbiddenNamespace, explainProtectedNamespace } from './explain-forbidden.ts';
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
  /** This very delete was carried out here before; with the approval that it had then. */
  readonly carriedOut: { readonly approvalId?: string } | undefined;
  /** While this delete was carried out, another object took the place of the one that was looked at first. */
  readonly isReplaced: boolean;
  /** It came with more others than this agent takes without an approval (mass-deletes.ts). */
  readonly isOfMass: boolean;
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
  // Letting go destroys nothing. It is the way out for what lies in a namespace that is protected since.
  if (!deletes) return { kind: 'ORPHAN', live };
  const isProtected = explainProtectedNamespace(bounds, tombstone.namespace);
  if (isProtected !== undefined) return refused(rejected(tombstone, 'NOT_PERMITTED_HERE', isProtected));
  if (live.metadata.deletionTimestamp !== undefined) return finished(terminating(tombstone));
  return decideDelete(question, live);
}

/** The answer while finalizers run; the agent says DELETED by itself when the object is gone. */
export const terminating = (tombstone: Tombstone): ObjectOutcome =>
  outcomeOf(tombstone, 'WAITING', { message: 'The object is being deleted; its finalizers run.', retryable: true });

/** The object that the hub knew when the delete was asked for or approved was another one. */
const isAnother = ({ uids }: Tombstone, { uid }: KubeObject['metadata']): boolean =>
  uids !== undefined && uid !== undefined && !uids.includes(uid);

/** What is live was put back after the delete was carried out. Only an approval that was given since then is about it. */
const isBack = ({ tombstone, carriedOut, isReplaced }: TombstoneQuestion): boolean =>
  isReplaced ||
  (carriedOut !== undefined && (tombstone.approval === undefined || tombstone.approval.id === carriedOut.approvalId));

const IS_BACK =
  'This object was deleted here, and has been put back since, as by a restored backup; it is kept. To delete this one too, approve ' +
  'it by the mutation approveDeletes; to keep it, forgetRedisCluster.';

const explainAnother = ({ uids = [] }: Tombstone, { uid = '' }: KubeObject['metadata']): string =>
  `The delete is about the object with the Kubernetes uid ${uids.join(' or ')}. What is here now, ${uid}, was put back since, as by a ` +
  'restored backup; it is kept. To delete this one, approve it by the mutation approveDeletes; to keep it, forgetRedisCluster.';

/** Remembered, so that it is kept from the same tombstone in the next session too, also of a hub that names no uids. */
function keepBack(tombstone: Tombstone, { uid }: KubeObject['metadata'], message: string): TombstoneDecision {
  const outcome = rejected(tombstone, 'DELETED_OBJECT_IS_BACK', message);
  return finished(uid === undefined ? outcome : { ...outcome, uid });
}

function decideDelete(question: TombstoneQuestion, live: KubeObject): TombstoneDecision {
  const { tombstone, bounds, nowMs } = question;
  const { acceptDeletes, maxDeletes } = bounds.limits;
  if (!acceptDeletes) {
    return refused(rejected(tombstone, 'NOT_PERMITTED_HERE', "This agent's values accept no deletes from the hub."));
  }
  const { approval } = tombstone;
  if (isAnother(tombstone, live.metadata)) {
    return keepBack(tombstone, live.metadata, explainAnother(tombstone, live.metadata));
  }
  if (isBack(question)) return keepBack(tombstone, live.metadata, IS_BACK);
  if (approval !== undefined) {
    const refusal = refuseApproval(tombstone, approval, nowMs);
    return refusal === undefined ? { kind: 'DELETE', live, counts: false } : refused(refusal);
  }
  if (question.isOfMass) {
    const message =
      `More than ${maxDeletes} deletes without an approval came at once, so none of them was carried out. If they are meant, ` +
      'approve them by the mutation approveDeletes; if nobody asked for them, the hub is wrong: nothing is lost here.';
    return refused({ ...rejected(tombstone, 'DELETE_BREAKER', message), retryable: true });
  }
  const recent = question.recentDeletesMs.filter((at) => Math.abs(nowMs - at) < DELETE_WINDOW_MS);
  if (recent.length < maxDeletes) return { kind: 'DELETE', live, counts: true };
  const message =
    `This agent's values (limits.maxDeletes) allow ${maxDeletes} deletes in 5 minutes without an approval, and they are ` +
    'used up. It is tried again later; an approval of it by the mutation approveDeletes lets it through at once.';
  return refused({ ...rejected(tombstone, 'DELETE_BREAKER', message), retryable: true });
}

/** An approval that is over, or about other objects, lets nothing through: whoever gave it did not mean this delete now. */
function refuseApproval(
  tombstone: Tombstone,
  { id, hubUids, expiresAt }: NonNullable<Tombstone['approval']>,
  nowMs: number,
): ObjectOutcome | undefined {
  if (!hubUids.includes(tombstone.hubUid)) {
    return rejected(
      tombstone,
      'DELETE_APPROVAL_INVALID',
      `Approval ${id} does not list this object; nothing was deleted.`,
    );
  }
  if (nowMs < Date.parse(expiresAt)) return undefined;
  const now = new Date(nowMs).toISOString();
  const message = `Approval ${id} was good until ${expiresAt}; it is ${now} here. Nothing was deleted; approve it again.`;
  return rejected(tombstone, 'DELETE_APPROVAL_EXPIRED', message);
}
