/**
 * Agents may be newer than this hub, so words of theirs that the schema does not know become null or UNKNOWN instead of
 * failing the whole answer.
 */
import type { Condition as ReportedCondition, PodStatus } from '#domain';
import type { RedisClusterStatusRow, StatusSummaryRow } from './redis-cluster.entity.ts';
import { ConditionStatuses, LinkStates, Modes, Phases, PodRoles } from './redis-cluster.enums.ts';
import type { Condition, Endpoints, Pod, RedisClusterStatus } from './redis-cluster-status.model.ts';

const known = <T extends string>(values: Readonly<Record<string, T>>, value: unknown): T | null =>
  Object.values(values).find((each) => each === value) ?? null;

/** The status without its documents, of which a list of a dashboard shows none. */
export type StatusSummary = Omit<RedisClusterStatus, (typeof DOCUMENTS)[number]>;
/** None of these may be null in the schema: left out by mistake, they are an error and never an empty list. */
export const DOCUMENTS = ['endpoints', 'pods', 'conditions', 'numbers', 'details'] as const;

export function toStatusSummary(row: StatusSummaryRow, nowMs: number): StatusSummary {
  return {
    observedGeneration: row.observed_hub_generation,
    phase: known(Phases, row.phase),
    mode: known(Modes, row.mode),
    engineVersion: row.engine_version,
    size: row.size,
    readyPods: row.ready_pods,
    currentPrimary: row.current_primary,
    primaryTerm: row.primary_term,
    dataSetId: row.data_set_id,
    reportedAt: row.reported_at,
    ageSeconds: Math.max(0, nowMs - row.reported_at.getTime()) / 1000,
    freshness: row.freshness,
    lastKnown: row.freshness !== 'FRESH' || row.inventory !== 'SYNCED',
  };
}

export const toRedisClusterStatus = (row: RedisClusterStatusRow, nowMs: number): RedisClusterStatus => ({
  ...toStatusSummary(row, nowMs),
  endpoints: toEndpoints(row.endpoints),
  pods: row.pods.map(toPod),
  conditions: row.conditions.map(toCondition),
  numbers: row.numbers,
  details: row.details,
});

const toEndpoints = (endpoints: Readonly<Record<string, string>>): Endpoints => ({
  primary: endpoints['primary'] ?? null,
  replicas: endpoints['replicas'] ?? null,
  sentinel: endpoints['sentinel'] ?? null,
  masterName: endpoints['masterName'] ?? null,
  connectionSecret: endpoints['connectionSecret'] ?? null,
  primaryAddress: endpoints['primaryAddress'] ?? null,
});

const toPod = (pod: PodStatus): Pod => ({
  name: pod.name,
  role: known(PodRoles, pod.role) ?? 'unknown',
  ready: pod.ready,
  node: pod.node ?? null,
  ip: pod.ip ?? null,
  link: known(LinkStates, pod.link),
});

function toCondition(condition: ReportedCondition): Condition {
  const at = new Date(condition.lastTransitionTime);
  return {
    type: condition.type,
    status: known(ConditionStatuses, condition.status) ?? 'Unknown',
    reason: condition.reason,
    message: condition.message,
    observedGeneration: condition.observedGeneration,
    lastTransitionTime: Number.isNaN(at.getTime()) ? null : at,
  };
}
