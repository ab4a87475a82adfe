/**
 * RedisOperations that name a RedisCluster which is not there: they wait a while for it, since the two may have been
 * applied together in the wrong order, and fail then.
 */
import type { PlannedOperation, RedisOperationObject } from '#domain';
import { explainExpiry } from './judge-operations.ts';
import { createdAtMs, openOperations } from './open-operations.ts';
import { verdict } from './operation-kind.ts';
import type { OperationVerdict } from './operation-kind.ts';

const WAIT_MS = 600_000;

/** `operations` all name one RedisCluster. */
export const judgeOrphans = (operations: readonly RedisOperationObject[], nowMs: number): readonly PlannedOperation[] =>
  openOperations({ operations }).map((operation) => ({
    name: operation.metadata.name,
    uid: operation.metadata.uid ?? '',
    ...judge(operation, nowMs),
  }));

const judge = (operation: RedisOperationObject, nowMs: number): OperationVerdict => {
  const message = `There is no RedisCluster ${operation.spec.redisCluster} in this namespace.`;
  if (operation.spec.cancel === true) return verdict('Cancelled', 'Cancelled', 'It was called off.');
  const begun = operation.status?.phase === 'Running';
  if (begun || nowMs - createdAtMs(operation) > WAIT_MS) return verdict('Failed', 'NoSuchRedisCluster', message);
  return explainExpiry(operation, nowMs) ?? verdict('Pending', 'NoSuchRedisCluster', message);
};
