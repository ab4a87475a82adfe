import { Injectable } from '@nestjs/common';
import { ApiDatabase } from '../../platform/database/pools.ts';
import type { EventSeverity } from './fleet-event.model.ts';

export interface FleetEventRow {
  readonly id: string;
  readonly at: Date;
  readonly severity: EventSeverity;
  readonly reason: string;
  readonly message: string;
  readonly first_at: Date;
  readonly last_at: Date;
  readonly count: number;
}

@Injectable()
export class FleetEventsRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  /** Newest first, of one object, when its project may be seen. */
  list(hubUid: string, limit: number, projects: 'ALL' | readonly string[]): Promise<FleetEventRow[]> {
    return this.dataSource.query(
      `SELECT e.id, e.at, e.severity, e.reason, e.message, e.first_at, e.last_at, e.count
       FROM event e JOIN resource r ON r.hub_uid = e.hub_uid
       WHERE e.hub_uid = $1 AND ($2::uuid[] IS NULL OR r.project_id = ANY($2))
       ORDER BY e.at DESC, e.id DESC LIMIT $3`,
      [hubUid, projects === 'ALL' ? null : projects, limit],
    );
  }
}
