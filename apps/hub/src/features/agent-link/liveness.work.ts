import type { EntityManager } from 'typeorm';

import { appendChanges } from '../../platform/database/change-log.ts';
import { GRACE_MS, judgeAll, type NewVerdict, PULSE_GAP_MS, type SeenRow } from './liveness.rules.ts';

const ACTIVE = `agent_seen AS s JOIN agent AS a ON a.id = s.agent_id AND a.state = 'ACTIVE'`;

/** One look at the whole fleet, by whichever replica has the claim; the pulse tells the next one how long ago it was. */
export class LivenessWork {
  #massSinceMs: number | undefined;

  async look(tx: EntityManager): Promise<readonly NewVerdict[]> {
    const { inGrace, nowMs, fleetSize } = await takePulse(tx);
    const rows = await tx.query<SeenRow[]>(
      `SELECT s.agent_id AS "agentId", s.verdict, extract(epoch FROM now() - s.seen_at)::float8 * 1000 AS "ageMs" FROM ${ACTIVE}
       WHERE s.verdict <> 'FRESH' OR s.seen_at < now() - interval '30 seconds'`,
    );
    const since = this.#massSinceMs;
    const { verdicts, putOff } = judgeAll(rows, {
      fleetSize,
      inGrace,
      nowMs,
      ...(since === undefined ? {} : { massSinceMs: since }),
    });
    this.#massSinceMs = putOff ? (since ?? nowMs) : undefined;
    await writeVerdicts(tx, verdicts, nowMs);
    return verdicts;
  }
}

async function takePulse(tx: EntityManager): Promise<{ inGrace: boolean; nowMs: number; fleetSize: number }> {
  const rows = await tx.query<{ inGrace: boolean; nowMs: number; fleetSize: number }[]>(
    `INSERT INTO liveness_pulse AS p (at, grace_until)
       SELECT now(), now() + $1 * interval '1 millisecond'
     ON CONFLICT (one) DO UPDATE SET at = excluded.at, grace_until =
       CASE WHEN p.at < now() - $2 * interval '1 millisecond' THEN excluded.grace_until ELSE p.grace_until END
     RETURNING grace_until > now() AS "inGrace", extract(epoch FROM now())::float8 * 1000 AS "nowMs",
       (SELECT count(*) FROM ${ACTIVE}) AS "fleetSize"`,
    [GRACE_MS, PULSE_GAP_MS],
  );
  if (!rows[0]) throw new Error('the pulse was not written');
  return rows[0];
}

async function writeVerdicts(tx: EntityManager, verdicts: readonly NewVerdict[], nowMs: number): Promise<void> {
  if (verdicts.length === 0) return;
  const agentIds = verdicts.map((one) => one.agentId);
  await tx.query(
    `UPDATE agent_seen AS s SET verdict = i.verdict FROM unnest($1::uuid[], $2::text[]) AS i(agent_id, verdict)
     WHERE s.agent_id = i.agent_id`,
    [agentIds, verdicts.map((one) => one.verdict)],
  );
  const lost = verdicts.filter((one) => one.verdict === 'UNKNOWN').map((one) => one.agentId);
  await tx.query(
    `UPDATE agent_session SET state = 'DISCONNECTED', disconnected_at = now()
     WHERE agent_id = ANY($1::uuid[]) AND state = 'CONNECTED'`,
    [lost],
  );
  const subjects = await tx.query<
    { topic: 'memberCluster' | 'redisCluster'; subject: string; projectId: string | null }[]
  >(
    `SELECT DISTINCT 'memberCluster' AS topic, member_cluster_id AS subject, NULL::uuid AS "projectId" FROM agent WHERE id = ANY($1::uuid[])
     UNION ALL SELECT 'redisCluster', hub_uid, project_id FROM resource WHERE agent_id = ANY($1::uuid[]) AND deleted_at IS NULL`,
    [agentIds],
  );
  await appendChanges(
    tx,
    nowMs,
    subjects.map(({ topic, subject, projectId }) => ({
      topic,
      subject,
      kind: 'CHANGED',
      ...(projectId ? { projectId } : {}),
    })),
  );
}
