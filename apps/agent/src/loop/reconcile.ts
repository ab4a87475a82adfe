/**
 * One pass over one RedisCluster: observe → plan → execute → report. It starts from nothing but the key, so a pass can be
 * cut off anywhere and simply be run again.
 */
import type { ObjectKey, Plan, PlanResult, RedisClusterSnapshot } from '#domain';

export interface ReconcileParts {
  /** undefined: there is no such RedisCluster. */
  readonly observe: (key: ObjectKey) => Promise<RedisClusterSnapshot | undefined>;
  /** Makes the namespace somebody's, when it is nobody's yet. */
  readonly claimNamespace: (namespace: string) => Promise<void>;
  readonly plan: (snapshot: RedisClusterSnapshot) => Plan;
  readonly execute: (plan: Plan, snapshot: RedisClusterSnapshot) => Promise<PlanResult>;
  readonly report: (pass: PassToReport) => Promise<void>;
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
  const snapshot = await parts.observe(key);
  if (snapshot === undefined) return { key, seen: 'GONE', result: { done: [] } };
  if (snapshot.scopeOwner === undefined) {
    await parts.claimNamespace(key.namespace);
    return { key, seen: 'UNCLAIMED', result: { done: [] } };
  }
  const plan = parts.plan(snapshot);
  const result = await parts.execute(plan, snapshot);
  await parts.report({ snapshot, plan, result, failuresBefore });
  return { key, seen: 'PLANNED', plan, result };
};

/** When to look again, in ms; undefined: when something changes, or at the next resync. */
export const nextLookMs = ({ seen, plan, result }: PassOutcome): number | undefined =>
  seen === 'UNCLAIMED' || result.done.length > 0 ? LOOK_AGAIN_SOON_MS : plan?.recheckAfterMs;
