import type { EntityManager } from 'typeorm';

import { GRACE_MS, judgeAll, type NewVerdict, PULSE_GAP_MS, type SeenRow } from './liveness.rules.ts';
import { storeVerdicts } from './store-verdicts.ts';

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
    const told = [...verdicts, ...(await findMuted(tx))];
    await writeVerdicts(tx, told, nowMs);
    return told;
  }
}

/** Agents that may not speak and still count as heard. A person decided that, so neither grace nor the mass rule holds. */
async function findMuted(tx: EntityManager): Promise<readonly NewVerdict[]> {
  return tx.query<NewVerdict[]>(
    `SELECT s.agent_id AS "agentId", 'UNKNOWN' AS verdict FROM agent_seen AS s JOIN agent AS a ON a.id = s.agent_id
     WHERE a.state <> 'ACTIVE' AND s.verdict <> 'UNKNOWN'`,
  );
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
  await storeVerdicts(tx, verdicts, nowMs);
  const lost = verdicts.filter((one) => one.verdict === 'UNKNOWN').map((one) => one.agentId);
  if (lost.length === 0) return;
  await tx.query(
    `UPDATE agent_session SET state = 'DISCONNECTED', disconnected_at = now()
     WHERE agent_id = ANY($1::uuid[]) AND state = 'CONNECTED'`,
    [lost],
  );
}
