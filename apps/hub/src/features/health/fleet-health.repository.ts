import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { FleetDimension } from './fleet-health.model.ts';

export interface FleetCountsRow {
  readonly total: number;
  readonly ready: number;
  readonly degraded: number;
  readonly unknown: number;
}
export type FleetGroupRow = FleetCountsRow & { readonly key: Readonly<Record<string, string | null>> };

/** Reads `fleet_rollup`, never the RedisClusters themselves: its size is that of the groups, not of the fleet. */
@Injectable()
export class FleetHealthRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Sums by the given dimensions; without any, one row with an empty key. */
  groups(dimensions: readonly FleetDimension[], projects: 'ALL' | readonly string[]): Promise<FleetGroupRow[]> {
    const parts = dimensions.flatMap((_each, index) => [`$${index + 2}::text`, `group_key -> $${index + 2}`]);
    const key = `jsonb_build_object(${parts.join(', ')})`;
    return this.dataSource.query(
      `SELECT ${key} AS key, sum(total)::bigint AS total, sum(ready)::bigint AS ready,
         sum(degraded)::bigint AS degraded, sum(unknown)::bigint AS unknown
       FROM fleet_rollup WHERE $1::text[] IS NULL OR group_key ->> 'projectId' = ANY($1)
       GROUP BY 1 ORDER BY 1`,
      [projects === 'ALL' ? null : projects, ...dimensions],
    );
  }

  async foldedAt(): Promise<Date | null> {
    const rows: { folded_at: Date }[] = await this.dataSource.query('SELECT folded_at FROM fleet_rollup_head');
    return rows[0]?.folded_at ?? null;
  }
}
