/** Rows as Postgres holds them. They never leave this feature; mappers make the API's words of them. */
import type { Condition, DeliveryState, Freshness, PodStatus, TombstoneKind } from '#domain';
import type { ForeignField } from '#protocol';
import type { SyncFacts } from './sync-state.rules.ts';

/** What the hub wants and what became of it: `resource` with its delivery, and the part of the status that tells sync. */
export interface RedisClusterRow {
  readonly hub_uid: string;
  readonly project_id: string;
  readonly member_cluster_id: string;
  readonly agent_id: string;
  readonly agent_state: string;
  readonly namespace: string;
  readonly name: string;
  readonly hub_generation: number;
  /** RFC 8785 text. */
  readonly spec: string;
  readonly drift_policy: 'Report' | 'Revert';
  readonly create_allowed: boolean;
  readonly deletion: TombstoneKind | null;
  /** Code of what its delete waits for; null when it does not wait. */
  readonly deletion_held_for: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly delivery_generation: number | null;
  readonly delivery_state: DeliveryState | null;
  readonly delivery_code: string | null;
  readonly delivery_message: string | null;
  readonly delivery_attempts: number | null;
  readonly delivery_updated_at: Date | null;
  readonly applied_generation: number | null;
  readonly contested: readonly ForeignField[] | null;
  readonly foreign_fields: readonly ForeignField[] | null;
  readonly gone: boolean | null;
  readonly status_reported_at: Date | null;
}

/** What the agent reported last, with the freshness of that agent, and whether it sees its API server; but nothing large. */
export interface StatusSummaryRow {
  readonly hub_uid: string;
  readonly observed_hub_generation: number | null;
  readonly phase: string | null;
  readonly mode: string | null;
  readonly engine_version: string | null;
  readonly size: number | null;
  readonly ready_pods: number | null;
  readonly current_primary: string | null;
  readonly primary_term: number | null;
  readonly data_set_id: string | null;
  /** Received, or proven unchanged since. */
  readonly reported_at: Date;
  readonly freshness: Freshness;
  readonly inventory: 'SYNCED' | 'UNKNOWN';
}

/** All of it: documents that are several times the size of the rest, and only read for those who ask for them. */
export interface RedisClusterStatusRow extends StatusSummaryRow {
  readonly endpoints: Readonly<Record<string, string>>;
  readonly pods: readonly PodStatus[];
  readonly conditions: readonly Condition[];
  readonly numbers: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, unknown>>;
}

/** How many rows have these facts; `mayDrift`: drift.rules.ts has to look at each of them. */
export interface SyncFactsCount extends Omit<SyncFacts, 'driftCount'> {
  readonly mayDrift: boolean;
  readonly count: number;
}
