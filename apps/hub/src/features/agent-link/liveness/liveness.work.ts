/**
 * One look at the whole fleet, by whichever replica has the claim. A look reads `agent_seen` alone, once, and takes from
 * it only the agents whose verdict may change; it also tells when the next agent falls due, so that a verdict comes with
 * the moment its age passes and not up to a second later. What one look must know of another (when it was, whether a
 * mass verdict waits) is in the database: the next look may be another replica's. Times of the future in it are of a
 * clock that was put forward and then right: they are cut to now, or no silence would be told until that time has come.
 */
import { DISCONNECTED_AFTER_MS, LATE_AFTER_MS } from '#domain';
import type { EntityManager } from 'typeorm';

import { inHalves } from '../../../platform/database/in-halves.ts';
import type { SetApart } from '../../../platform/database/set-apart.ts';
import {
  GRACE_MS,
  judgeAll,
  MASS_MIN_AGENTS,
  MASS_WINDOW_MS,
  type NewVerdict,
  PULSE_GAP_MS,
  type SeenRow,
} from './liveness.rules.ts';
import { storeVerdicts } from './store-verdicts.ts';

const MS = (p: string): string => `${p} * interval '1 millisecond'`;
const late = `now() - ${MS('$1')}`;
const lost = `now() - ${MS('$2')}`;
/** $3: in grace, where nothing gets worse. Narrows only; liveness.rules.ts decides. */
const MAY_CHANGE = `CASE verdict
  WHEN 'FRESH' THEN NOT $3 AND seen_at <= ${late}
  WHEN 'LATE' THEN seen_at > ${late} OR (NOT $3 AND seen_at <= ${lost})
  ELSE seen_at > ${lost} END`;
const LOOK = `
SELECT coalesce(array_agg(agent_id) FILTER (WHERE ${MAY_CHANGE}), '{}') AS "agentIds",
  count(*) FILTER (WHERE seen_at <= ${late} AND seen_at > now() - ${MS('$4')}) AS silent,
  coalesce(bool_or(seen_at > now() + ${MS('$5')}), false) AS "isAhead",
  extract(epoch FROM least(min(seen_at) FILTER (WHERE verdict = 'FRESH' AND seen_at > ${late}) + ${MS('$1')},
    min(seen_at) FILTER (WHERE verdict = 'LATE' AND seen_at > ${lost}) + ${MS('$2')}) - now())::float8 * 1000 AS "dueInMs"
FROM agent_seen`;

/** More than transactions that write at the same time differ by. */
const AHEAD_MS = 10_000;

interface Found {
  readonly agentIds: readonly string[];
  readonly silent: number;
  readonly isAhead: boolean;
  readonly dueInMs: number | null;
}

export interface LookResult {
  readonly verdicts: readonly NewVerdict[];
  /** When the next agent falls due; null: none will as things are. */
  readonly dueInMs: number | null;
}

export class LivenessWork {
  readonly #apart: SetApart;

  constructor(apart: SetApart) {
    this.#apart = apart;
  }

  async look(tx: EntityManager): Promise<LookResult> {
    const pulse = await takePulse(tx);
    const { agentIds, silent, isAhead, dueInMs } = await findAgents(tx, pulse);
    if (isAhead) await this.#forEach(tx, await findAhead(tx), bringBack);
    const rows = await lockRows(
      tx,
      agentIds.filter((id) => !this.#apart.waits(id)),
    );
    const mayBeMass = Math.max(rows.length, silent) >= MASS_MIN_AGENTS;
    const { massSinceMs, ...look } = { ...pulse, silent, fleetSize: mayBeMass ? await countFleet(tx) : 0 };
    const { verdicts, isMass } = judgeAll(rows, massSinceMs === null ? look : { ...look, massSinceMs });
    await rememberMass(tx, massSinceMs, isMass);
    const told = [...verdicts, ...(await findMuted(tx))].filter(({ agentId }) => !this.#apart.waits(agentId));
    const written = await this.#forEach(tx, told, (part, some) => writeVerdicts(part, some, pulse.nowMs));
    return { verdicts: written, dueInMs };
  }

  /** An agent of which nothing can be written is set apart. Returns the others. */
  async #forEach<T extends { readonly agentId: string }>(
    tx: EntityManager,
    agents: readonly T[],
    write: (part: EntityManager, some: readonly T[]) => Promise<void>,
  ): Promise<readonly T[]> {
    const failed = await inHalves(agents, (some) => tx.transaction((part) => write(part, some)));
    const errors = new Map(failed.map(({ entry, error }) => [entry, error]));
    for (const one of agents) {
      if (errors.has(one)) this.#apart.fail(one.agentId, errors.get(one));
      else this.#apart.pass(one.agentId);
    }
    return agents.filter((one) => !errors.has(one));
  }
}

async function findAgents(tx: EntityManager, { inGrace }: Pulse): Promise<Found> {
  const [found] = await tx.query<Found[]>(LOOK, [
    LATE_AFTER_MS,
    DISCONNECTED_AFTER_MS,
    inGrace,
    MASS_WINDOW_MS,
    AHEAD_MS,
  ]);
  if (!found) throw new Error('an aggregate came back without a row');
  return found;
}

/**
 * The newest state of these rows, held until the verdict is stored, of agents that may speak. A row that somebody writes
 * at this moment is left to the next look: its agent is just being heard, and to wait for it here while its writer waits
 * for another row of ours would be a deadlock.
 */
async function lockRows(tx: EntityManager, agentIds: readonly string[]): Promise<readonly SeenRow[]> {
  if (agentIds.length === 0) return [];
  return tx.query<SeenRow[]>(
    `SELECT s.agent_id AS "agentId", s.verdict, extract(epoch FROM now() - s.seen_at)::float8 * 1000 AS "ageMs"
     FROM agent_seen AS s JOIN agent AS a ON a.id = s.agent_id AND a.state = 'ACTIVE'
     WHERE s.agent_id = ANY($1::uuid[]) FOR NO KEY UPDATE OF s SKIP LOCKED`,
    [agentIds],
  );
}

/** Heard at a time that is yet to come. Rows that are being written are left to the next look. */
const findAhead = (tx: EntityManager): Promise<readonly { readonly agentId: string }[]> =>
  tx.query(
    `SELECT agent_id AS "agentId" FROM agent_seen WHERE seen_at > now() + ${MS('$1')} FOR NO KEY UPDATE SKIP LOCKED`,
    [AHEAD_MS],
  );

/** As if heard now. */
async function bringBack(tx: EntityManager, ahead: readonly { readonly agentId: string }[]): Promise<void> {
  await tx.query('UPDATE agent_seen SET seen_at = now() WHERE agent_id = ANY($1::uuid[])', [
    ahead.map(({ agentId }) => agentId),
  ]);
}

/** Of agents that were ever heard. Asked for only when so many are lost at once that it matters. */
async function countFleet(tx: EntityManager): Promise<number> {
  const rows = await tx.query<{ count: number }[]>(
    `SELECT count(*) FROM agent_seen AS s JOIN agent AS a ON a.id = s.agent_id AND a.state = 'ACTIVE'`,
  );
  return rows[0]?.count ?? 0;
}

/** Agents that may not speak and still count as heard. A person decided that, so neither grace nor the mass rule holds. */
async function findMuted(tx: EntityManager): Promise<readonly NewVerdict[]> {
  return tx.query<NewVerdict[]>(
    `SELECT s.agent_id AS "agentId", 'UNKNOWN' AS verdict FROM agent_seen AS s JOIN agent AS a ON a.id = s.agent_id
     WHERE a.state <> 'ACTIVE' AND s.verdict <> 'UNKNOWN'`,
  );
}

interface Pulse {
  readonly inGrace: boolean;
  readonly nowMs: number;
  readonly massSinceMs: number | null;
}

async function takePulse(tx: EntityManager): Promise<Pulse> {
  const rows = await tx.query<Pulse[]>(
    `INSERT INTO liveness_pulse AS p (at, grace_until)
       SELECT now(), now() + ${MS('$1')}
     ON CONFLICT (one) DO UPDATE SET at = excluded.at,
       grace_until = CASE WHEN p.at < now() - ${MS('$2')} THEN excluded.grace_until
         ELSE least(p.grace_until, excluded.grace_until) END,
       mass_since = CASE WHEN p.mass_since > now() THEN now() ELSE p.mass_since END
     RETURNING grace_until > now() AS "inGrace", extract(epoch FROM now())::float8 * 1000 AS "nowMs",
       extract(epoch FROM mass_since)::float8 * 1000 AS "massSinceMs"`,
    [GRACE_MS, PULSE_GAP_MS],
  );
  if (!rows[0]) throw new Error('the pulse was not written');
  return rows[0];
}

async function rememberMass(tx: EntityManager, sinceMs: number | null, isMass: boolean): Promise<void> {
  if (isMass === (sinceMs !== null)) return;
  await tx.query(`UPDATE liveness_pulse SET mass_since = ${isMass ? 'now()' : 'NULL'}`);
}

async function writeVerdicts(tx: EntityManager, verdicts: readonly NewVerdict[], nowMs: number): Promise<void> {
  await storeVerdicts(tx, verdicts, nowMs);
  const lost = verdicts.filter((one) => one.verdict === 'UNKNOWN').map((one) => one.agentId);
  if (lost.length === 0) return;
  // A session row that is held now is that of a Hello being accepted, which locks it before `agent_seen`.
  await tx.query(
    `UPDATE agent_session SET state = 'DISCONNECTED', disconnected_at = now() WHERE agent_id IN (
       SELECT agent_id FROM agent_session WHERE agent_id = ANY($1::uuid[]) AND state = 'CONNECTED'
       FOR NO KEY UPDATE SKIP LOCKED)`,
    [lost],
  );
}
