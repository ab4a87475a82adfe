/** Rows as Postgres holds them. They never leave this feature; the mapper makes the API's words of them. */
import type { Freshness } from '#domain';
import type { StatusItem } from '#protocol';
import type { AgentState, Inventory, MemberClusterState, ScopeKind } from './member-cluster.enums.ts';

export interface MemberClusterRow {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly region: string | null;
  readonly fingerprint: string | null;
  readonly state: MemberClusterState;
  readonly created_at: Date;
}

export interface AgentRow {
  readonly id: string;
  readonly member_cluster_id: string;
  readonly scope_kind: ScopeKind;
  readonly scope_namespace: string | null;
  readonly state: AgentState;
  readonly state_reason: string | null;
  readonly capabilities: readonly string[];
  readonly agent_version: string | null;
  readonly fingerprint: string | null;
  readonly session_state: 'CONNECTED' | 'DISCONNECTED' | null;
  readonly inventory: Inventory | null;
  readonly session_no: number | null;
  readonly replica: string | null;
  readonly revision: number | null;
  readonly acked_revision: number | null;
  readonly seen_at: Date | null;
  readonly verdict: Freshness | null;
  readonly over_limit: boolean | null;
}

export interface LocalObjectRow {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly kube_uid: string;
  readonly hub_uid_claimed: string | null;
  readonly item: StatusItem;
  readonly reported_at: Date;
}
