import type { Enrol } from '#protocol';
import { tokenHash } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';

import { appendChanges } from '../../../platform/database/change-log.ts';
import { MergedCalls } from './merged-calls.ts';

export type EnrolmentState =
  | { readonly state: 'PENDING_APPROVAL' | 'ACTIVE'; readonly agentId: string }
  | {
      readonly state: 'REFUSED';
      readonly code: 'TOKEN_INVALID' | 'AGENT_REVOKED' | 'AGENT_QUARANTINED' | 'INVALID_INPUT';
      readonly message: string;
    };

interface TokenRow {
  readonly agentId: string;
  readonly memberClusterId: string;
  readonly expired: boolean;
  readonly usedAt: Date | null;
  readonly state: string;
  readonly scopeKind: string;
  readonly scopeNamespace: string | null;
  readonly publicKey: Buffer | null;
}

const TOKEN_INVALID = {
  state: 'REFUSED',
  code: 'TOKEN_INVALID',
  message: 'the enrolment token is unknown, expired or was used by another key',
} as const;

/**
 * Takes an agent's key and fingerprint for its one-time token. Repeatable by the holder of the same key, since the
 * answer may have been lost; for any other key a used token is no better than an unknown one. A token that was used once stays
 * used, so a repeat is answered from what is read: with the lock each turn of a crash loop would wait for the disk.
 */
export class EnrolmentRepository {
  readonly #dataSource: DataSource;

  readonly #states: MergedCalls<string, string | undefined>;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#states = new MergedCalls({ mergeMs: 10, maxCalls: 1_000, work: (ids) => this.#readStates(ids) });
  }

  async enrol(enrol: Enrol, nowMs: number): Promise<EnrolmentState> {
    const key = Buffer.from(enrol.publicKey, 'base64url');
    const seen = await readToken(this.#dataSource.manager, enrol.token);
    return seen && seen.usedAt !== null ? answerRepeat(seen, key) : this.#enrolOnce(enrol, key, nowMs);
  }

  #enrolOnce(enrol: Enrol, key: Buffer, nowMs: number): Promise<EnrolmentState> {
    return this.#dataSource.transaction(async (tx) => {
      const token = await readToken(tx, enrol.token, 'FOR UPDATE');
      if (!token) return TOKEN_INVALID;
      if (token.usedAt !== null) return answerRepeat(token, key);
      if (token.expired) return TOKEN_INVALID;
      const namespace = enrol.scope.kind === 'NAMESPACE' ? enrol.scope.namespace : null;
      if (token.scopeKind !== enrol.scope.kind || token.scopeNamespace !== namespace) {
        const wanted = token.scopeNamespace ?? token.scopeKind;
        return { state: 'REFUSED', code: 'INVALID_INPUT', message: `this token is for an agent of scope ${wanted}` };
      }
      await tx.query('UPDATE enrolment_token SET used_at = $2 WHERE token_hash = $1', [
        hashOf(enrol.token),
        new Date(nowMs),
      ]);
      await tx.query(
        `UPDATE agent SET public_key = $2, fingerprint = $3, agent_version = $4, state = 'PENDING_APPROVAL'
         WHERE id = $1 AND state = 'PENDING_TOKEN'`,
        [token.agentId, key, enrol.fingerprint, enrol.agentVersion],
      );
      await appendChanges(tx, nowMs, [{ topic: 'memberCluster', subject: token.memberClusterId, kind: 'CHANGED' }]);
      return { state: 'PENDING_APPROVAL', agentId: token.agentId };
    });
  }

  stateOf(agentId: string): Promise<string | undefined> {
    return this.#states.add(agentId);
  }

  async #readStates(agentIds: readonly string[]): Promise<readonly (string | undefined)[]> {
    const rows = await this.#dataSource.query<{ id: string; state: string }[]>(
      'SELECT id, state FROM agent WHERE id = ANY($1::uuid[])',
      [agentIds],
    );
    const byId = new Map(rows.map((row) => [row.id, row.state]));
    return agentIds.map((agentId) => byId.get(agentId));
  }
}

const hashOf = (token: string): Buffer => Buffer.from(tokenHash(token), 'hex');

async function readToken(
  tx: EntityManager,
  token: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<TokenRow | undefined> {
  const rows = await tx.query<TokenRow[]>(
    `SELECT t.agent_id AS "agentId", a.member_cluster_id AS "memberClusterId", t.expires_at < now() AS expired,
       t.used_at AS "usedAt", a.state, a.scope_kind AS "scopeKind", a.scope_namespace AS "scopeNamespace",
       a.public_key AS "publicKey"
     FROM enrolment_token AS t JOIN agent AS a ON a.id = t.agent_id WHERE t.token_hash = $1 ${lock}`,
    [hashOf(token)],
  );
  return rows[0];
}

const answerRepeat = (token: TokenRow, key: Buffer): EnrolmentState =>
  token.publicKey?.equals(key) ? toState(token) : TOKEN_INVALID;

function toState(token: TokenRow): EnrolmentState {
  if (token.state === 'ACTIVE' || token.state === 'PENDING_APPROVAL')
    return { state: token.state, agentId: token.agentId };
  if (token.state === 'QUARANTINED') {
    const message = 'the agent of this token is quarantined; approve it again, or revoke it and enrol a replacement';
    return { state: 'REFUSED', code: 'AGENT_QUARANTINED', message };
  }
  return { state: 'REFUSED', code: 'AGENT_REVOKED', message: 'this agent was revoked; enrol it anew' };
}
