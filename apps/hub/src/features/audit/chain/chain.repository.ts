/** Reads and writes of the chain. Times go as text with microseconds, as PostgreSQL keeps them; a Date has milliseconds. */
import type { EntityManager } from 'typeorm';
import { FLEET_CHAIN, type ChainedRow, type ChainHead, type ChainRow } from './chain-link.rules.ts';

const CHAIN = `coalesce(project_id, '${FLEET_CHAIN}'::uuid)`;
const time = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const hash = (column: string): string => `encode(sha256(convert_to(${column}::text, 'UTF8')), 'hex')`;
const LINK = `${CHAIN} AS chain, seq, ${time('at')} AS at, principal, action, target, ${hash('before')} AS "beforeSha256",
  ${hash('after')} AS "afterSha256", result, code, request_id AS "requestId", count, ${time('last_at')} AS "lastAt"`;

/** Rows without a place, oldest first. */
export const readUnchained = (manager: EntityManager, most: number): Promise<ChainRow[]> =>
  manager.query(`SELECT ${LINK} FROM audit WHERE chain_no IS NULL ORDER BY seq LIMIT $1`, [most]);

/** The last link of each chain that is asked for; of one whose rows have all left, its checkpoint. */
export const readHeads = (manager: EntityManager, chains: readonly string[]): Promise<ChainHead[]> =>
  manager.query(
    `SELECT wanted.chain, coalesce(last.chain_no, c.chain_no, 0) AS "chainNumber",
       CASE WHEN last.chain_no IS NULL THEN c.chain_hash ELSE last.chain_hash END AS "chainHash"
     FROM unnest($1::uuid[]) AS wanted (chain) LEFT JOIN audit_checkpoint AS c ON c.chain = wanted.chain
     LEFT JOIN LATERAL (SELECT chain_no, chain_hash FROM audit WHERE ${CHAIN} = wanted.chain AND chain_no IS NOT NULL
       ORDER BY chain_no DESC LIMIT 1) AS last ON true`,
    [chains],
  );

export async function storeLinks(manager: EntityManager, rows: readonly ChainedRow[]): Promise<void> {
  await manager.query(
    `UPDATE audit SET chain_no = link.chain_no, chain_hash = link.chain_hash
     FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS link (seq, chain_no, chain_hash) WHERE audit.seq = link.seq`,
    [rows.map(({ seq }) => seq), rows.map(({ chainNumber }) => chainNumber), rows.map(({ chainHash }) => chainHash)],
  );
}

/** The next links in the order of the chains, after the one given. */
export const readLinks = (
  manager: EntityManager,
  after: Pick<ChainHead, 'chain' | 'chainNumber'>,
  most: number,
): Promise<ChainedRow[]> =>
  manager.query(
    `SELECT ${LINK}, chain_no AS "chainNumber", chain_hash AS "chainHash" FROM audit
     WHERE chain_no IS NOT NULL AND (${CHAIN}, chain_no) > ($1::uuid, $2::bigint) ORDER BY ${CHAIN}, chain_no LIMIT $3`,
    [after.chain, after.chainNumber, most],
  );

export const readCheckpoints = (manager: EntityManager): Promise<ChainHead[]> =>
  manager.query(`SELECT chain, chain_no AS "chainNumber", chain_hash AS "chainHash" FROM audit_checkpoint`);

export async function countUnchained(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<{ count: number }[]>(
    'SELECT count(*)::int AS count FROM audit WHERE chain_no IS NULL',
  );
  return row?.count ?? 0;
}

/** Removes rows that got their place more than `keepDays` ago, at most `most`. Returns how many. */
export async function trimAudit(manager: EntityManager, keepDays: number, most: number): Promise<number> {
  const [row] = await manager.query<{ gone: number }[]>('SELECT trim_audit($1, $2) AS gone', [keepDays, most]);
  return row?.gone ?? 0;
}
