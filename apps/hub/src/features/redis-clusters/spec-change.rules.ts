/**
 * Which generation of a RedisCluster a change is measured against: the one that was last written in the member cluster,
 * since its API server compares with what lies there, not with what the hub has stored since. What was refused from
 * the start lies nowhere, so anything may still change; what was sent and not answered yet counts as written.
 */
import { type Outcome, type RedisClusterSpec, type SpecProblem, succeed, validateSpecChange } from '#domain';
import type { RedisClusterRow } from './redis-cluster.entity.ts';

/** Undefined: nothing was ever written there. */
export function findWrittenGeneration(
  row: Pick<RedisClusterRow, 'hub_generation' | 'applied_generation' | 'delivery_state'>,
): number | undefined {
  if (row.applied_generation !== null) return row.applied_generation;
  return row.delivery_state === null || row.delivery_state === 'PENDING' ? row.hub_generation : undefined;
}

/** The domain's verdict on a change, as user errors. */
export function checkSpecChange(before: RedisClusterSpec, after: RedisClusterSpec): Outcome<void> {
  const problems = validateSpecChange(before, after);
  return problems.length === 0 ? succeed(undefined) : { ok: false, errors: problems.map(toUserError) };
}

const toUserError = ({ path, message }: SpecProblem) => ({
  code: 'INVALID_INPUT' as const,
  message,
  field: ['input', ...path],
  retryable: false,
});
