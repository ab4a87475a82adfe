/**
 * Reads change_log in the order of (xid, id) and only below pg_snapshot_xmin: a transaction that is still open may yet
 * commit with a lower number than one already seen, and a reader that went past it would lose it.
 */
import { Injectable } from '@nestjs/common';
import { ApiDatabase } from '../../platform/database/pools.ts';
import type { ChangeCursor } from './change-cursor.ts';

export interface ChangeRow extends ChangeCursor {
  readonly subject: string;
  readonly kind: 'CHANGED' | 'DELETED';
}

const BATCH = 5_000;
/**
 * A line carries the time at which its transaction began, by its replica's clock. Longer than any transaction and any
 * difference of clocks; with it a read looks at the partitions of two hours or three and not at all of a day.
 */
const LATE_LINES_MS = 2 * 3_600_000;

@Injectable()
export class ChangeLogRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  /** A place before everything that is not committed yet. */
  async end(): Promise<ChangeCursor> {
    const rows: { xid: string }[] = await this.dataSource.query(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid',
    );
    return { xid: rows[0]?.xid ?? '0', id: -1 };
  }

  /** At most a batch; when it is full there is more. `sinceMs`: when everything up to the cursor had been read. */
  async readAfter(
    cursor: ChangeCursor,
    sinceMs: number,
  ): Promise<{ readonly rows: readonly ChangeRow[]; readonly full: boolean }> {
    const rows: ChangeRow[] = await this.dataSource.query(
      `SELECT xid::text AS xid, id, subject, kind FROM change_log
       WHERE (xid, id) > ($1::xid8, $2::bigint) AND xid < pg_snapshot_xmin(pg_current_snapshot())
         AND at >= $3::timestamptz
       ORDER BY change_log.xid, id LIMIT ${BATCH}`,
      [cursor.xid, cursor.id, new Date(sinceMs - LATE_LINES_MS)],
    );
    return { rows, full: rows.length === BATCH };
  }

  /** True when the log still holds everything after this place. */
  async reachesBackTo(cursor: ChangeCursor): Promise<boolean> {
    const rows: { reaches: boolean }[] = await this.dataSource.query(
      `SELECT (SELECT (xid, id) FROM change_log ORDER BY change_log.xid, id LIMIT 1) <= ($1::xid8, $2::bigint)
         OR $1::xid8 >= pg_snapshot_xmin(pg_current_snapshot()) AS reaches`,
      [cursor.xid, cursor.id],
    );
    return rows[0]?.reaches ?? false;
  }

  /** The newest change of any of these subjects after this place. */
  async lastChange(subjects: readonly string[], after: ChangeCursor): Promise<ChangeRow | undefined> {
    const rows: ChangeRow[] = await this.dataSource.query(
      `SELECT xid::text AS xid, id, subject, kind FROM change_log
       WHERE subject = ANY($1::uuid[]) AND (xid, id) > ($2::xid8, $3::bigint) AND xid < pg_snapshot_xmin(pg_current_snapshot())
       ORDER BY change_log.xid DESC, id DESC LIMIT 1`,
      [subjects, after.xid, after.id],
    );
    return rows[0];
  }
}
