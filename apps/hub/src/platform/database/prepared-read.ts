/**
 * Reads whose plan is the same for all values, such as those by key: PostgreSQL parses and plans them once a connection
 * and not at each call. Joins of six tables by key take longer to plan than to run. Not for conditions of which some
 * values are rare and some are most of the table: the one plan for all would be the wrong one for either.
 */
import type pg from 'pg';
import type { DataSource } from 'typeorm';

export interface PreparedRead {
  /** Unique to the text. */
  readonly name: string;
  /** With its columns named one by one: a column that a migration adds would change the answer of "*", and break it. */
  readonly text: string;
}

/** The rows. Rejects with the errors of pg. Outside any transaction: on whichever connection of the pool is free. */
export async function readPrepared<Row extends pg.QueryResultRow>(
  dataSource: DataSource,
  { name, text }: PreparedRead,
  values: readonly unknown[],
): Promise<Row[]> {
  // TypeORM's own `query` has no names for statements.
  const { master } = dataSource.driver as unknown as { readonly master: pg.Pool };
  const { rows } = await master.query<Row>({ name, text, values: [...values] });
  return rows;
}
