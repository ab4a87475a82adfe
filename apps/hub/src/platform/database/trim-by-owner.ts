/**
 * Deletes rows that nobody will ask for again, those of each owner apart when they cannot be deleted together. Without it one row
 * that cannot go keeps the rows of everybody, and the database fills.
 */
import type { EntityManager } from 'typeorm';

import { inHalves } from './in-halves.ts';
import type { SetApart } from './set-apart.ts';
import { isOfOneEntry } from './sql-state.ts';

export interface Trim {
  readonly table: string;
  /**
   * The rows, locked, as `row` (their ctid) and `owner`, both as text. $1: owners that are left alone. Bounded; the rest waits for
   * the next time. A row that somebody writes at present is best skipped: nobody must wait for tidiness.
   */
  readonly find: string;
}

interface Found {
  readonly row: string;
  readonly owner: string;
}

export async function trimByOwner(tx: EntityManager, { table, find }: Trim, apart: SetApart): Promise<void> {
  const keyOf = (owner: string): string => `${table} ${owner}`;
  const waiting = apart.waiting.filter((key) => key.startsWith(`${table} `)).map((key) => key.slice(table.length + 1));
  try {
    const rows = await tx.transaction((part) => part.query<Found[]>(find, [waiting]));
    const owners = [...Map.groupBy(rows, ({ owner }) => owner)];
    const failed = await inHalves(owners, (some) => {
      const doomed = some.flatMap(([, found]) => found.map(({ row }) => row));
      return tx.transaction((part) => part.query(`DELETE FROM ${table} WHERE ctid = ANY($1::tid[])`, [doomed]));
    });
    const errors = new Map(failed.map(({ entry: [owner], error }) => [owner, error]));
    for (const [owner] of owners) {
      if (errors.has(owner)) apart.fail(keyOf(owner), errors.get(owner));
      else apart.pass(keyOf(owner));
    }
    apart.pass(keyOf('all'));
  } catch (error) {
    // The other tables are trimmed all the same.
    if (!isOfOneEntry(error)) throw error;
    apart.fail(keyOf('all'), error);
  }
}
