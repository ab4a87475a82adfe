/**
 * One pass over one RedisCluster: observe → plan → execute → report. It starts from nothing but the key, so a pass can be
 * cut off anywhere and simply be run again.
 */
import type { ObjectKey, Plan, PlanResult, RedisClusterSnapshot } from '#domain';

export interface ReconcileParts {
  /** undefined: there is no such RedisCluster. */
  readonly observe: (key: ObjectKey) => Promise<RedisClusterSnapshot | undefined>;
  /** Makes the namespace somebody's, when it is nobody's yet; tells when it is being deleted and can be nobody's. */
  readonly claimNamespace: (namespace: string) => Promise<'OWNED' | 'TERMINATING'>;
  readonly plan: (snapshot: RedisClusterSnapshot) => Plan;
  readonly execute: (plan: Plan, snapshot: RedisClusterSnapshot) => Promise<PlanResult>;
  readonly report: (pass: PassToReport) => Promise<void>;
  /** There is no such RedisCluster: tells those that ask for it. Returns when to look again, in ms, if ever. */
  readonly tellMissing: (key: ObjectKey) => Promise<number | undefined>;
}

interface PassToReport {
  readonly snapshot: RedisClusterSnapshot;
  readonly plan: Plan;
  readonly result: PlanResult;
  readonly failuresBefore: number;
}

export interface PassOutcome {
  readonly key: ObjectKey;
  /** UNCLAIMED: the namespace was nobody's, so nothing was planned yet. */
  readonly seen: 'GONE' | 'UNCLAIMED' | 'PLANNED';
  readonly plan?: Plan;
  /** GONE: somebody still asks for it. */
  readonly missingRecheckMs?: number;
  readonly result: PlanResult;
}

/** After a step that nothing in Kubernetes tells of, such as REPLICAOF, the next look is soon. */
export const LOOK_AGAIN_SOON_MS = 250;

/** Rejects when the world could not be read or the status not be written; a failed action is part of the outcome. */
export const reconcile = async (
  key: ObjectKey,
  parts: ReconcileParts,
  failuresBefore: number,
): Promise<PassOutcome> => {
  const observed = await parts.observe(key);
  if (observed === undefined) {
    const missingRecheckMs = await parts.tellMissing(key);
    const again = missingRecheckMs === undefined ? {} : { missingRecheckMs };
    return { key, seen: 'GONE', result: { done: [] }, ...again };
  }
  const snapshot = observed.scopeOwner === undefined ? await claim(key, observed, parts) : observed;
  if (snapshot === undefined) return { key, seen: 'UNCLAIMED', result: { done: [] } };
  const plan = parts.plan(snapshot);
  const result = await parts.execute(plan, snapshot);
  await parts.report({ snapshot, plan, result, failuresBefore });
  return { key, seen: 'PLANNED', plan, result };
};

/**
 * undefined: to be looked at again once the namespace is somebody's. When the namespace itself is deleted its owner is
 * deleted with it, and none can be named again: an object in deletion is then let go by whoever sees it, or the
 * namespace would wait for its finalizer for ever (seen). Of two agents both do, which deletes nothing twice.
 */
const claim = async (
  { namespace }: ObjectKey,
  snapshot: RedisClusterSnapshot,
  { claimNamespace }: ReconcileParts,
): Promise<RedisClusterSnapshot | undefined> => {
  const terminates = (await claimNamespace(namespace)) === 'TERMINATING';
  const isDeleted = snapshot.resource.metadata.deletionTimestamp !== undefined;
  return terminates && isDeleted ? { ...snapshot, ownsNamespace: true, namespaceTerminating: true } : undefined;
};

/** A primary that was just made takes no writes before its replicas follow it. */
const LOOK_AGAIN_AT_ONCE_MS = 20;

/** When to look again, in ms; undefined: when something changes, or at the next resync. */
export const nextLookMs = ({ seen, plan, result }: PassOutcome): number | undefined => {
  if (result.done.some(({ kind }) => kind === 'PromotePod')) return LOOK_AGAIN_AT_ONCE_MS;
  return seen === 'UNCLAIMED' || result.done.length > 0 ? LOOK_AGAIN_SOON_MS : plan?.recheckAfterMs;
};
