/**
 * Reads what an agent is to be told. Each read is one statement, and revisions of one agent commit in their order (see
 * change-desired.ts), so everything up to the revision returned is in it. An agent sees only its own rows, in SQL.
 */
import type { DataSource } from 'typeorm';

import { appendChanges, type Change } from '../../../platform/database/change-log.ts';
import type { SessionKey } from '../sessions/session-key.ts';
import { HOLD_BEFORE_RESTORE } from './delete-breaker.rules.ts';
import type { ReadDeleteLimits } from './delete-limits.ts';
import { TARGET_COLUMNS, type TargetRow } from './desired-target.ts';
import { holdDeletes, judgeDeletes } from './judge-deletes.ts';

/** Changes read at once; more follow in the next Delta. */
const CHANGES_PER_READ = 200;
/** Three times what an attempt is ever put off by. */
const NO_PAUSE_IS_LONGER_MS = 900_000;

export interface ChangeSet {
  /** Reached when all rows have been processed. */
  readonly revision: number;
  readonly rows: readonly TargetRow[];
}

export interface Withheld {
  readonly hubUid: string;
  readonly hubGeneration: number;
  /** Why, for people. */
  readonly message: string;
}

/** What deletes must pass besides their own rows. */
export interface DeleteGate {
  readonly readLimits: ReadDeleteLimits;
  /** False from the moment in which another database was found until its new epoch is written: it may be of yesterday. */
  readonly isLineageKnown: () => boolean;
}

/** Of the heads, `h`, that of an agent that may be spoken to in the session whose number follows. */
const OF_SESSION = `JOIN agent AS g ON g.id = h.agent_id AND g.state = 'ACTIVE'
  JOIN agent_session AS n ON n.agent_id = h.agent_id AND n.session_no =`;

export class DesiredRepository {
  readonly #dataSource: DataSource;
  readonly #gate: DeleteGate;

  constructor(dataSource: DataSource, gate: DeleteGate) {
    this.#dataSource = dataSource;
    this.#gate = gate;
  }

  /** Ask after the rows were read. When it is false no delete of them may be sent. */
  get maySendDeletes(): boolean {
    return this.#gate.isLineageKnown();
  }

  /**
   * Everything after a revision, merged by hubUid, oldest first, and `again`: objects to be sent once more. undefined: the
   * session is not its agent's any more, or that is not ACTIVE; it must be told nothing.
   */
  async readChanges(
    { agentId, sessionNo }: SessionKey,
    afterRevision: number,
    again: readonly string[],
  ): Promise<ChangeSet | undefined> {
    const rows = await this.#dataSource.query<
      (TargetRow & { headRevision: number; changeCount: number; lastRevision: number | null })[]
    >(
      `WITH changed AS (
         SELECT hub_uid, max(revision) AS revision FROM desired_change WHERE agent_id = $1 AND revision > $2
         GROUP BY hub_uid ORDER BY max(revision) LIMIT $4
       ), wanted AS (
         SELECT hub_uid, revision FROM changed
         UNION ALL SELECT again, NULL FROM unnest($3::uuid[]) AS again WHERE again NOT IN (SELECT hub_uid FROM changed)
       )
       SELECT h.revision AS "headRevision", (SELECT count(*) FROM changed) AS "changeCount",
         (SELECT max(revision) FROM changed) AS "lastRevision", wanted.revision, ${TARGET_COLUMNS}
       FROM agent_spec_head AS h ${OF_SESSION} $5 LEFT JOIN wanted ON true
       LEFT JOIN resource AS r ON r.hub_uid = wanted.hub_uid AND r.agent_id = $1 AND r.deleted_at IS NULL
       WHERE h.agent_id = $1 ORDER BY wanted.revision NULLS LAST`,
      [agentId, afterRevision, again, CHANGES_PER_READ, sessionNo],
    );
    const first = rows[0];
    if (!first) return undefined;
    const complete = first.changeCount < CHANGES_PER_READ;
    const revision = complete ? Math.max(first.headRevision, afterRevision) : (first.lastRevision ?? afterRevision);
    return { revision, rows: rows.filter((row) => row.hubUid !== null) };
  }

  /** Everything, from one REPEATABLE READ transaction (03 rule 9): the last write of it is its revision. undefined: as above. */
  readAll({ agentId, sessionNo }: SessionKey): Promise<ChangeSet | undefined> {
    return this.#dataSource.transaction('REPEATABLE READ', async (tx) => {
      const heads = await tx.query<
        {
          revision: number;
        }[]
      >(`SELECT h.revision FROM agent_spec_head AS h ${OF_SESSION} $2 WHERE h.agent_id = $1`, [agentId, sessionNo]);
      if (!heads[0]) return undefined;
      const rows = await tx.query<TargetRow[]>(
        `SELECT NULL AS revision, ${TARGET_COLUMNS} FROM resource AS r
         WHERE r.agent_id = $1 AND r.deleted_at IS NULL ORDER BY r.hub_uid`,
        [agentId],
      );
      return { revision: heads[0].revision, rows };
    });
  }

  /**
   * Agents with a session here that have changes of the last `sinceMs` to be told, and objects of theirs whose next
   * attempt became due in it, or lies further ahead than any pause: the clock was put back. Both by an index over time, so
   * that it costs what there is to tell, not the fleet.
   */
  async findDue(replica: string, sinceMs: number): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.#dataSource.query<{ agentId: string; hubUid: string | null }[]>(
      `SELECT DISTINCT c.agent_id AS "agentId", NULL::uuid AS "hubUid" FROM desired_change AS c
       JOIN agent_spec_head AS h ON h.agent_id = c.agent_id AND c.revision > h.acked_revision
       JOIN agent_session AS s ON s.agent_id = c.agent_id AND s.replica = $1 AND s.state = 'CONNECTED'
       WHERE c.at > now() - $2 * interval '1 millisecond'
       UNION ALL
       SELECT s.agent_id, d.hub_uid FROM delivery AS d JOIN resource AS r ON r.hub_uid = d.hub_uid
       JOIN agent_session AS s ON s.agent_id = r.agent_id AND s.replica = $1 AND s.state = 'CONNECTED'
       WHERE (d.next_attempt_at <= now() AND d.next_attempt_at > now() - $2 * interval '1 millisecond')
         OR d.next_attempt_at > now() + $3 * interval '1 millisecond'`,
      [replica, sinceMs, NO_PAUSE_IS_LONGER_MS],
    );
    const due = new Map<string, string[]>();
    for (const { agentId, hubUid } of rows) {
      const list = due.get(agentId) ?? [];
      due.set(agentId, list);
      if (hubUid) list.push(hubUid);
    }
    return due;
  }

  /** Puts off the next attempt of what is being sent, so that a slow agent is not sent it again and again. */
  async postpone(hubUids: readonly string[], pauseMs: number): Promise<void> {
    if (hubUids.length === 0) return;
    await this.#dataSource.query(
      // In the order in which all lock them: deletes that are made to wait (hold_deletes) are many, too.
      `WITH due AS (
         SELECT hub_uid FROM delivery WHERE hub_uid = ANY($1::uuid[]) AND next_attempt_at IS NOT NULL
         ORDER BY hub_uid FOR NO KEY UPDATE
       )
       UPDATE delivery AS d SET next_attempt_at = now() + $2 * interval '1 millisecond' FROM due WHERE d.hub_uid = due.hub_uid`,
      [hubUids, pauseMs],
    );
  }

  /** Books that these generations are not sent, and why. They are looked at again at the next Hello. */
  withhold(agentId: string, withheld: readonly Withheld[], nowMs: number): Promise<void> {
    return this.#dataSource.transaction(async (tx) => {
      // As the booking of an ack does it: another order would deadlock with it.
      await tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [agentId]);
      const [rows] = await tx.query<[{ hubUid: string; projectId: string }[], number]>(
        `UPDATE delivery AS d SET state = 'WAITING', code = 'CRD_TOO_OLD', message = i.message, retryable = true,
           next_attempt_at = NULL, updated_at = $3
         FROM jsonb_to_recordset($2::jsonb) AS i("hubUid" uuid, "hubGeneration" bigint, message text)
         JOIN resource AS r ON r.hub_uid = i."hubUid" AND r.hub_generation = i."hubGeneration"
         WHERE d.hub_uid = r.hub_uid AND r.agent_id = $1 AND r.deletion IS NULL
           AND (d.state, d.code, d.message) IS DISTINCT FROM ('WAITING', 'CRD_TOO_OLD', i.message)
         RETURNING r.hub_uid AS "hubUid", r.project_id AS "projectId"`,
        [agentId, JSON.stringify(withheld), new Date(nowMs)],
      );
      const changes = rows.map(({ hubUid, projectId }): Change => ({
        topic: 'redisCluster',
        subject: hubUid,
        projectId,
        kind: 'CHANGED',
      }));
      await appendChanges(tx, nowMs, changes);
    });
  }

  /** Takes deletes without a verdict through the breaker. Returns the hubUids that may be sent. */
  release(agentId: string, hubUids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#dataSource.transaction(async (tx) =>
      judgeDeletes(tx, { agentId, hubUids }, await this.#gate.readLimits(tx)),
    );
  }

  /** For an agent that knows more of this hub than the hub itself. Returns the hubUids of the deletes that wait now. */
  holdAsRestored(agentId: string): Promise<readonly string[]> {
    return this.#dataSource.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [agentId]);
      return holdDeletes(tx, agentId, HOLD_BEFORE_RESTORE);
    });
  }
}
