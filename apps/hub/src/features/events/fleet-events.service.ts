import { Injectable } from '@nestjs/common';
import { visibleProjects, type Caller } from '../../platform/auth/index.ts';
import { decodeGlobalId, encodeGlobalId, isUuid, readPage } from '../../platform/graphql/index.ts';
import type { FleetEvent } from './fleet-event.model.ts';
import { FleetEventsRepository, type FleetEventRow } from './fleet-events.repository.ts';

@Injectable()
export class FleetEventsService {
  constructor(private readonly repository: FleetEventsRepository) {}

  async list(redisClusterId: string, first: number | null | undefined, caller: Caller): Promise<FleetEvent[]> {
    const { size } = readPage(first, undefined, isUuid);
    const hubUid = decodeGlobalId('RedisCluster', redisClusterId);
    if (hubUid === undefined) return [];
    return (await this.repository.list(hubUid, size, visibleProjects(caller.viewer))).map(toFleetEvent);
  }
}

const toFleetEvent = (row: FleetEventRow): FleetEvent => ({
  id: encodeGlobalId('FleetEvent', row.id),
  at: row.at,
  severity: row.severity,
  reason: row.reason,
  message: row.message,
  firstAt: row.first_at,
  lastAt: row.last_at,
  count: row.count,
});
