/** Tokens in the database, as the start of a hub and the commands beside it read and change them. */
import type { EntityManager } from 'typeorm';
import type { KnownToken, RevokedFor } from './choose-admin-token.rules.ts';

export interface ListedToken extends KnownToken {
  readonly principal: string;
  readonly kind: string;
  readonly madeBy: string | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Its principal is ADMIN over the whole fleet. */
  readonly isAdmin: boolean;
}

export interface OwnToken {
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly madeBy: string;
  readonly at: Date;
}

const IS_LIVE = 't.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())';
/** A row that a release of before revoked does not say why: it knew one reason. */
const SELECT = `
  SELECT t.id, t.created_at AS "createdAt", ${IS_LIVE} AS "isLive",
    CASE WHEN t.revoked_at IS NOT NULL THEN coalesce(t.revoked_for, 'REPLACED') END AS "revokedFor",
    p.name AS principal, p.kind, t.made_by AS "madeBy", t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt",
    EXISTS (SELECT 1 FROM role_binding AS b
      WHERE b.principal_id = p.id AND b.project_id IS NULL AND b.role = 'ADMIN') AS "isAdmin"
  FROM api_token AS t JOIN principal AS p ON p.id = t.principal_id`;

export const listTokens = (tx: EntityManager): Promise<ListedToken[]> =>
  tx.query(`${SELECT} ORDER BY p.name, t.created_at, t.id`);

export async function findToken(tx: EntityManager, tokenHash: Buffer): Promise<ListedToken | undefined> {
  const rows: ListedToken[] = await tx.query(`${SELECT} WHERE t.token_hash = $1`, [tokenHash]);
  return rows[0];
}

/** Live tokens of the first administrator but the one given. */
export const listOtherBootstrapTokens = (tx: EntityManager, tokenHash: Buffer | null): Promise<ListedToken[]> =>
  tx.query(
    `${SELECT} WHERE p.kind = 'BOOTSTRAP_ADMIN' AND ${IS_LIVE} AND ($1::bytea IS NULL OR t.token_hash <> $1) ORDER BY t.created_at`,
    [tokenHash],
  );

export async function addBootstrapToken(tx: EntityManager, token: OwnToken): Promise<void> {
  await tx.query(
    `INSERT INTO api_token (id, principal_id, token_hash, created_at, made_by)
     SELECT $1, id, $2, $3, $4 FROM principal WHERE kind = 'BOOTSTRAP_ADMIN'`,
    [token.id, token.tokenHash, token.at, token.madeBy],
  );
}

export async function revokeTokens(
  tx: EntityManager,
  ids: readonly string[],
  why: { readonly revokedFor: RevokedFor; readonly at: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    'UPDATE api_token SET revoked_at = $2, revoked_for = $3 WHERE id = ANY($1::uuid[]) AND revoked_at IS NULL',
    [ids, why.at, why.revokedFor],
  );
}

export async function restoreToken(tx: EntityManager, id: string): Promise<void> {
  await tx.query('UPDATE api_token SET revoked_at = NULL, revoked_for = NULL WHERE id = $1', [id]);
}

/** An end that a person asked for stays one, also for a token that another had replaced before. */
export async function endToken(tx: EntityManager, id: string, at: Date): Promise<void> {
  await tx.query(`UPDATE api_token SET revoked_at = coalesce(revoked_at, $2), revoked_for = 'PERSON' WHERE id = $1`, [
    id,
    at,
  ]);
}
