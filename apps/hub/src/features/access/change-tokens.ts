/**
 * Replace and revoke, as commands beside the hub ask for them. Every replica asks the database for a token once a second at
 * least, so what ends here ends everywhere a second later, in open subscriptions too.
 */
import type { EntityManager } from 'typeorm';
import { hashToken } from '../../platform/auth/index.ts';
import { LOCK } from '../../platform/database/advisory-locks.ts';
import { AuditRepository } from '../audit/index.ts';
import {
  addBootstrapToken,
  endToken,
  findToken,
  type ListedToken,
  listOtherBootstrapTokens,
  listTokens,
  restoreToken,
  revokeTokens,
} from './admin-tokens.repository.ts';

export interface TokenChange {
  readonly at: Date;
  readonly newId: () => string;
}

export type Replaced =
  | { readonly kind: 'REPLACED'; readonly id: string; readonly revoked: readonly string[] }
  | { readonly kind: 'REVOKED_BY_A_PERSON' | 'NOT_OF_THE_ADMINISTRATOR' | 'EXPIRED' | 'NO_HUB_YET' };

/** Makes `token` the only live one of the first administrator. */
export async function replaceAdminToken(
  tx: EntityManager,
  token: { readonly text: string; readonly madeBy: string },
  { at, newId }: TokenChange,
): Promise<Replaced> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK.bootstrap]);
  const principals: unknown[] = await tx.query(`SELECT 1 FROM principal WHERE kind = 'BOOTSTRAP_ADMIN'`);
  if (principals.length === 0) return { kind: 'NO_HUB_YET' };
  const tokenHash = hashToken(token.text);
  const own = await findToken(tx, tokenHash);
  const refusal = own && refuse(own);
  if (refusal) return { kind: refusal };
  const id = own?.id ?? newId();
  if (own) await restoreToken(tx, id);
  else await addBootstrapToken(tx, { id, tokenHash, madeBy: token.madeBy, at });
  const revoked = (await listOtherBootstrapTokens(tx, tokenHash)).map((other) => other.id);
  await revokeTokens(tx, revoked, { revokedFor: 'REPLACED', at });
  await recordTokens(tx, { principal: 'command', action: 'replaceAdminToken', target: id, after: { revoked } }, at);
  return { kind: 'REPLACED', id, revoked };
}

/** Why a token that the database knows may not become the administrator's. */
function refuse({ kind, isLive, revokedFor }: ListedToken): Exclude<Replaced['kind'], 'REPLACED'> | undefined {
  if (kind !== 'BOOTSTRAP_ADMIN') return 'NOT_OF_THE_ADMINISTRATOR';
  if (revokedFor === 'PERSON') return 'REVOKED_BY_A_PERSON';
  return !isLive && revokedFor === null ? 'EXPIRED' : undefined;
}

export interface Revoked {
  readonly principal: string;
  readonly wasLive: boolean;
  readonly liveAdminTokens: number;
}

/** Undefined: there is no such token. */
export async function revokeToken(tx: EntityManager, id: string, at: Date): Promise<Revoked | undefined> {
  const found = (await listTokens(tx)).find((token) => token.id === id);
  if (!found) return undefined;
  await endToken(tx, id, at);
  const { principal, isLive: wasLive } = found;
  await recordTokens(tx, { principal: 'command', action: 'revokeToken', target: id, after: { principal } }, at);
  return { principal, wasLive, liveAdminTokens: await countLiveAdminTokens(tx) };
}

export const countLiveAdminTokens = async (tx: EntityManager): Promise<number> =>
  (await listTokens(tx)).filter(({ isLive, isAdmin }) => isLive && isAdmin).length;

interface TokenRow {
  /** `hub` at a start, `command` for a person at its console, whose name nobody knows. */
  readonly principal: 'hub' | 'command';
  readonly action: string;
  readonly target: string;
  readonly after: unknown;
}

export const recordTokens = (tx: EntityManager, row: TokenRow, at: Date): Promise<void> =>
  new AuditRepository(tx.dataSource).append(
    { ...row, at, project_id: null, before: null, result: 'OK', code: null, request_id: null },
    tx,
  );
