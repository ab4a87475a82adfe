import type { EventItem } from '#protocol';
import type { DataSource } from 'typeorm';

import type { IdSource } from '../../platform/lifecycle/time-and-ids.ts';
import type { SessionKey } from './delivery-book.ts';
import { isUuid } from './handshake.service.ts';

/** Events of the member clusters, as their agents deduplicated them. */
export class EventRepository {
  readonly #dataSource: DataSource;
  readonly #ids: IdSource;

  constructor(dataSource: DataSource, ids: IdSource) {
    this.#dataSource = dataSource;
    this.#ids = ids;
  }

  /** A batch that comes again because its ack was lost is stored again; readers tell by first, last and count. */
  async append(session: SessionKey, items: readonly EventItem[]): Promise<void> {
    if (items.length === 0) return;
    const rows = items.map((item) => ({
      id: this.#ids.newId(),
      hub_uid: item.hubUid !== undefined && isUuid(item.hubUid) ? item.hubUid : null,
      severity: item.severity,
      reason: item.reason,
      message: item.message,
      first_at: toTime(item.first),
      last_at: toTime(item.last),
      count: Math.min(item.count, MAX_COUNT),
    }));
    await this.#dataSource.query(
      `INSERT INTO event (id, at, agent_id, hub_uid, project_id, severity, reason, message, first_at, last_at, count)
       SELECT i.id, now(), $2, r.hub_uid, r.project_id, i.severity, i.reason, i.message, coalesce(i.first_at, now()),
         coalesce(i.last_at, now()), i.count
       FROM jsonb_to_recordset($1::jsonb) AS i(id uuid, hub_uid uuid, severity text, reason text, message text,
         first_at timestamptz, last_at timestamptz, count int)
       LEFT JOIN resource AS r ON r.hub_uid = i.hub_uid AND r.agent_id = $2
       WHERE EXISTS (SELECT 1 FROM agent_session WHERE agent_id = $2 AND session_no = $3)`,
      [JSON.stringify(rows), session.agentId, session.sessionNo],
    );
  }
}

/** Largest int of Postgres, which GraphQL's Int shares. */
const MAX_COUNT = 2 ** 31 - 1;
/** The years that RFC 3339 and Postgres both write with four digits. */
const [FIRST_MS, LAST_MS] = [Date.UTC(1, 0), Date.UTC(9999, 11)];

/** Times of member clusters are for display; one that cannot be read is not worth a refusal. */
function toTime(text: string): string | null {
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= LAST_MS ? new Date(ms).toISOString() : null;
}
