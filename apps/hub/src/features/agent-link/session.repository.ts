/**
 * Sessions in Postgres. Each accepted Hello raises session_no under the lock of the session's row; whoever holds a
 * lower number is fenced from then on (03 rule 7). Newest wins, on whichever replica it arrived.
 */
import type { Hello } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { appendChanges } from '../../platform/database/change-log.ts';
import { signalsOf } from '../../platform/database/signals.ts';
import type { SpecHead } from './resume-mode.rules.ts';
import { loseSight } from './store-verdicts.ts';
import { isCloned, TAKE_OVER_WINDOW_MS, type TakeOver } from './take-over.rules.ts';

export interface AgentRow {
  readonly id: string;
  readonly memberClusterId: string;
  readonly scopeKind: 'CLUSTER' | 'NAMESPACE';
  readonly scopeNamespace: string | null;
  readonly publicKey: Buffer | null;
  readonly previousPublicKey: Buffer | null;
  readonly fingerprint: string | null;
  readonly state: 'PENDING_TOKEN' | 'PENDING_APPROVAL' | 'ACTIVE' | 'QUARANTINED' | 'REVOKED';
}

export type Acceptance =
  | { readonly accepted: true; readonly sessionNo: number; readonly head: SpecHead }
  | { readonly accepted: false; readonly reason: 'CLONED' | 'NOT_ACTIVE' };

interface PreviousSession {
  readonly sessionNo: number;
  readonly instanceId: string | null;
  readonly state: string;
}

export class SessionRepository {
  readonly #dataSource: DataSource;
  readonly #replica: string;

  constructor(dataSource: DataSource, replica: string) {
    this.#dataSource = dataSource;
    this.#replica = replica;
  }

  async findAgent(agentId: string): Promise<AgentRow | undefined> {
    const rows = await this.#dataSource.query<AgentRow[]>(
      `SELECT id, member_cluster_id AS "memberClusterId", scope_kind AS "scopeKind", scope_namespace AS "scopeNamespace",
         public_key AS "publicKey", previous_public_key AS "previousPublicKey", fingerprint, state
       FROM agent WHERE id = $1`,
      [agentId],
    );
    return rows[0];
  }

  accept(agent: AgentRow, hello: Hello, nowMs: number): Promise<Acceptance> {
    return this.#dataSource.transaction(async (tx) => {
      const previous = await lockSession(tx, agent.id);
      const takeOver = await recordTakeOver(tx, agent.id, previous, hello.instanceId, nowMs);
      if (takeOver === 'CLONED') {
        await quarantine(tx, agent.id, 'two live instances take the session from each other', nowMs);
        return { accepted: false, reason: 'CLONED' };
      }
      if (!(await updateAgent(tx, hello))) return { accepted: false, reason: 'NOT_ACTIVE' };
      const sessionNo = previous.sessionNo + 1;
      await tx.query(
        `UPDATE agent_session SET session_no = $2, replica = $3, instance_id = $4, state = 'CONNECTED', inventory = $5,
           connected_at = $6 WHERE agent_id = $1`,
        [agent.id, sessionNo, this.#replica, hello.instanceId, hello.inventory, new Date(nowMs)],
      );
      await tx.query(
        `INSERT INTO agent_seen (agent_id, seen_at, verdict) VALUES ($1, now(), 'FRESH')
         ON CONFLICT (agent_id) DO UPDATE SET seen_at = now(), verdict = 'FRESH'`,
        [agent.id],
      );
      await appendChanges(tx, nowMs, [{ topic: 'memberCluster', subject: agent.memberClusterId, kind: 'CHANGED' }]);
      signalsOf(tx.dataSource).sendAfterCommit(tx, 'session', agent.id);
      return { accepted: true, sessionNo, head: await readHead(tx, agent.id) };
    });
  }

  /** Another fingerprint under a known key: nobody may use the key until a person has looked. */
  async quarantine(agentId: string, reason: string, nowMs: number): Promise<void> {
    await this.#dataSource.transaction((tx) => quarantine(tx, agentId, reason, nowMs));
  }

  async disconnect(agentId: string, sessionNo: number, nowMs: number): Promise<void> {
    await this.#dataSource.query(
      `UPDATE agent_session SET state = 'DISCONNECTED', disconnected_at = $3 WHERE agent_id = $1 AND session_no = $2`,
      [agentId, sessionNo, new Date(nowMs)],
    );
  }

  /** At start: whatever this replica's name held before it was killed is gone. */
  async disconnectAllOfReplica(nowMs: number): Promise<void> {
    await this.#dataSource.query(
      `UPDATE agent_session SET state = 'DISCONNECTED', disconnected_at = $2 WHERE replica = $1 AND state = 'CONNECTED'`,
      [this.#replica, new Date(nowMs)],
    );
  }

  async setInventory(agentId: string, sessionNo: number, inventory: Hello['inventory']): Promise<void> {
    await this.#dataSource.query('UPDATE agent_session SET inventory = $3 WHERE agent_id = $1 AND session_no = $2', [
      agentId,
      sessionNo,
      inventory,
    ]);
  }

  /** Which of these sessions may no longer write: taken over, quarantined or revoked. */
  async findFenced(sessions: readonly { agentId: string; sessionNo: number }[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#dataSource.query<{ agentId: string; state: string }[]>(
      `SELECT mine.agent_id AS "agentId", coalesce(a.state, 'REVOKED') AS state
       FROM unnest($1::uuid[], $2::bigint[]) AS mine(agent_id, session_no)
       LEFT JOIN agent AS a ON a.id = mine.agent_id LEFT JOIN agent_session AS s ON s.agent_id = mine.agent_id
       WHERE a.state IS DISTINCT FROM 'ACTIVE' OR s.session_no IS DISTINCT FROM mine.session_no`,
      [sessions.map((one) => one.agentId), sessions.map((one) => one.sessionNo)],
    );
    return new Map(rows.map((row) => [row.agentId, row.state]));
  }

  /**
   * `signer` is one of the two keys that are accepted now, and stays so until the new one was used, in case the answer is
   * lost; the other one goes. False when the session was taken over, or the signer is not accepted any more.
   */
  async rotateKey(agentId: string, sessionNo: number, change: { signer: Buffer; newKey: Buffer }): Promise<boolean> {
    const [, count] = await this.#dataSource.query<[unknown, number]>(
      `UPDATE agent SET previous_public_key = $3, public_key = $4
       WHERE id = $1 AND state = 'ACTIVE' AND $3 IN (public_key, previous_public_key)
         AND EXISTS (SELECT 1 FROM agent_session WHERE agent_id = $1 AND session_no = $2)`,
      [agentId, sessionNo, change.signer, change.newKey],
    );
    return count === 1;
  }

  /** `used`: the key whose use was seen. When another one has become the current key meanwhile, nothing goes. */
  async forgetPreviousKey(agentId: string, used: Buffer): Promise<void> {
    await this.#dataSource.query(
      'UPDATE agent SET previous_public_key = NULL WHERE id = $1 AND public_key = $2 AND previous_public_key IS NOT NULL',
      [agentId, used],
    );
  }
}

async function lockSession(tx: EntityManager, agentId: string): Promise<PreviousSession> {
  const rows = await tx.query<PreviousSession[]>(
    `SELECT session_no AS "sessionNo", instance_id AS "instanceId", state FROM agent_session WHERE agent_id = $1 FOR UPDATE`,
    [agentId],
  );
  if (!rows[0]) throw new Error(`agent ${agentId} has no session row`);
  return rows[0];
}

async function recordTakeOver(
  tx: EntityManager,
  agentId: string,
  previous: PreviousSession,
  instanceId: string,
  nowMs: number,
): Promise<'CLONED' | undefined> {
  if (previous.state !== 'CONNECTED' || !previous.instanceId || previous.instanceId === instanceId) return undefined;
  const newest = { fromInstance: previous.instanceId, toInstance: instanceId };
  await tx.query('INSERT INTO agent_take_over (agent_id, at, from_instance, to_instance) VALUES ($1, $2, $3, $4)', [
    agentId,
    new Date(nowMs),
    newest.fromInstance,
    newest.toInstance,
  ]);
  await tx.query('DELETE FROM agent_take_over WHERE agent_id = $1 AND at < $2', [
    agentId,
    new Date(nowMs - TAKE_OVER_WINDOW_MS),
  ]);
  const recent = await tx.query<TakeOver[]>(
    'SELECT from_instance AS "fromInstance", to_instance AS "toInstance" FROM agent_take_over WHERE agent_id = $1',
    [agentId],
  );
  return isCloned(recent, newest) ? 'CLONED' : undefined;
}

/** False when the agent is not ACTIVE any more: it was revoked between the look and the lock. */
async function updateAgent(tx: EntityManager, hello: Hello): Promise<boolean> {
  const [, count] = await tx.query<[unknown, number]>(
    `UPDATE agent SET agent_version = $2, crd_schema_hash = $3, capabilities = $4 WHERE id = $1 AND state = 'ACTIVE'`,
    [hello.agentId, hello.agentVersion, hello.crdSchemaHash, JSON.stringify(hello.capabilities)],
  );
  return count === 1;
}

async function quarantine(tx: EntityManager, agentId: string, reason: string, nowMs: number): Promise<void> {
  const [, count] = await tx.query<[unknown, number]>(
    `UPDATE agent SET state = 'QUARANTINED', state_reason = $2 WHERE id = $1 AND state = 'ACTIVE'`,
    [agentId, reason],
  );
  if (count > 0) await loseSight(tx, agentId, nowMs);
  signalsOf(tx.dataSource).sendAfterCommit(tx, 'session', agentId);
}

async function readHead(tx: EntityManager, agentId: string): Promise<SpecHead> {
  const rows = await tx.query<(SpecHead & { oldestChange: number | null })[]>(
    `SELECT revision, acked_revision AS "ackedRevision", digest, inventory_needed AS "inventoryNeeded",
       (SELECT min(revision) FROM desired_change WHERE agent_id = $1) AS "oldestChange"
     FROM agent_spec_head WHERE agent_id = $1`,
    [agentId],
  );
  const row = rows[0];
  if (!row) throw new Error(`agent ${agentId} has no spec head`);
  const { oldestChange, ...head } = row;
  return oldestChange === null ? head : { ...head, oldestChange };
}
