/** Gives rows without a place theirs, at the end of the chain of their project. Called by one replica at a time. */
import type { EntityManager } from 'typeorm';
import { chainRow, type ChainedRow, type ChainHead } from './chain-link.rules.ts';
import { readHeads, readUnchained, storeLinks } from './chain.repository.ts';

/** Returns the number of rows and the heads that moved. */
export async function fillChain(
  tx: EntityManager,
  most: number,
): Promise<{ readonly rows: number; readonly heads: readonly ChainHead[] }> {
  const rows = await readUnchained(tx, most);
  if (rows.length === 0) return { rows: 0, heads: [] };
  const chains = [...new Set(rows.map(({ chain }) => chain))];
  const heads = new Map<string, ChainHead>((await readHeads(tx, chains)).map((head) => [head.chain, head]));
  const links: ChainedRow[] = [];
  for (const row of rows) {
    const link = chainRow(row, heads.get(row.chain) ?? { chain: row.chain, chainNumber: 0, chainHash: null });
    heads.set(row.chain, link);
    links.push(link);
  }
  await storeLinks(tx, links);
  const moved = [...heads.values()].map(({ chain, chainNumber, chainHash }) => ({ chain, chainNumber, chainHash }));
  return { rows: rows.length, heads: moved };
}
