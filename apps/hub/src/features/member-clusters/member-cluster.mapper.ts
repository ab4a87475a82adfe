import { ERROR_CODES, type ErrorCode, showSafely } from '#domain';
import { COPIED_CONDITION, PART_CONDITION, readTrustedCas } from '#protocol';
import { encodeGlobalId } from '../../platform/graphql/index.ts';
import { findAgentProblem } from './agent-problem.rules.ts';
import type { AgentRow, LocalObjectRow, MemberClusterRow } from './member-cluster.entity.ts';
import type { Agent, LocalObject, MemberCluster } from './member-cluster.model.ts';

/** What agents said of themselves, also one that enrolled at a hub which took any text. */
const showOrNull = (text: string | null, most?: number): string | null =>
  text === null ? null : showSafely(text, most);

export const toMemberCluster = (row: MemberClusterRow): MemberCluster => ({
  id: encodeGlobalId('MemberCluster', row.id),
  name: row.name,
  labels: row.labels,
  region: row.region,
  fingerprint: showOrNull(row.fingerprint),
  state: row.state,
  createdAt: row.created_at,
  memberClusterId: row.id,
});

export const toAgent = (row: AgentRow, nowMs: number): Agent => ({
  id: encodeGlobalId('Agent', row.id),
  scope: row.scope_kind,
  namespace: row.scope_namespace,
  state: row.state,
  stateReason: row.state === 'ACTIVE' ? null : showOrNull(row.state_reason, 1_024),
  version: showOrNull(row.agent_version),
  trustedCas: readTrustedCas(row.capabilities),
  fingerprint: showOrNull(row.fingerprint),
  connected: row.session_state === 'CONNECTED',
  inventory: row.inventory ?? 'UNKNOWN',
  problem: toProblem(findAgentProblem(row)),
  appliedRevision: row.acked_revision ?? 0,
  desiredRevision: row.revision ?? 0,
  sessionNo: row.session_no ?? 0,
  replica: row.session_state === 'CONNECTED' ? row.replica : null,
  freshness: row.verdict ?? 'UNKNOWN',
  seenAt: row.seen_at,
  ageSeconds: row.seen_at === null ? null : secondsBetween(row.seen_at, nowMs),
  memberClusterId: row.member_cluster_id,
});

const toProblem = (code: ErrorCode | undefined): Agent['problem'] =>
  code === undefined ? null : { code, message: ERROR_CODES[code] };

const WARNINGS: ReadonlySet<string> = new Set([COPIED_CONDITION, PART_CONDITION]);

export const toLocalObject = (row: LocalObjectRow, nowMs: number): LocalObject => ({
  kind: row.kind,
  namespace: row.namespace,
  name: row.name,
  kubeUid: row.kube_uid,
  unclaimed: row.hub_uid_claimed !== null,
  claimedHubUid: row.hub_uid_claimed,
  warning: row.item.conditions?.find(({ type }) => WARNINGS.has(type))?.message ?? null,
  phase: row.item.phase ?? null,
  mode: row.item.mode ?? null,
  spec: row.item.liveSpec ?? null,
  reportedAt: row.reported_at,
  ageSeconds: secondsBetween(row.reported_at, nowMs),
});

const secondsBetween = (from: Date, nowMs: number): number => Math.max(0, nowMs - from.getTime()) / 1000;
