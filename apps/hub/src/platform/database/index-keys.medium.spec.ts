/**
 * Walks every index of the migrated database. Each text in a key must be bounded in bytes by its table, and all of a key together
 * must fit an index row: what does not fit is refused by a statement that writes for everybody.
 */
import { expect, it } from 'vitest';

import { createTestDatabase, startTestHub } from '../../../test/start-test-hub.ts';

/** A third of a page, less its headers; what PostgreSQL says when it refuses one. */
const MAX_INDEX_ROW = 2_704;
/** Of a row, and of each text in it: header, length and padding. */
const OVERHEAD = { row: 16, column: 8 };

interface KeyColumn {
  readonly index: string;
  readonly table: string;
  /** Columns of the table that this column of the index is made of: itself, or those of its expression. */
  readonly columns: readonly string[];
  /** -1: of any length. */
  readonly length: number;
}

const KEY_COLUMNS = `
  SELECT i.relname AS index, t.relname AS table, a.attlen AS length,
    CASE WHEN x.indkey[a.attnum - 1] > 0
      THEN ARRAY(SELECT c.attname::text FROM pg_attribute AS c WHERE c.attrelid = t.oid AND c.attnum = x.indkey[a.attnum - 1])
      ELSE ARRAY(SELECT DISTINCT c.attname::text FROM pg_depend AS d JOIN pg_attribute AS c
        ON c.attrelid = d.refobjid AND c.attnum = d.refobjsubid
        WHERE d.objid = i.oid AND d.refobjid = t.oid AND d.refobjsubid > 0 AND c.attlen = -1
          AND NOT c.attnum = ANY(x.indkey::int2[])) END AS columns
  FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
    JOIN pg_attribute AS a ON a.attrelid = i.oid
  WHERE t.relnamespace = 'public'::regnamespace AND t.relispartition IS FALSE ORDER BY 1, a.attnum`;

const CHECKS = `
  SELECT t.relname AS table, pg_get_constraintdef(c.oid) AS text FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid
  WHERE c.contype = 'c' AND t.relnamespace = 'public'::regnamespace`;

/** The most bytes that a column of any length may hold by one of these checks; undefined: nothing bounds it. */
function boundOf(column: string, checks: readonly string[]): number | undefined {
  for (const text of checks) {
    const length = new RegExp(`^CHECK \\(\\(octet_length\\(${column}\\) <= (\\d+)\\)\\)( NOT VALID)?$`).exec(text)?.[1];
    if (length !== undefined) return Number(length);
    const words = new RegExp(`^CHECK \\(\\(${column} = ANY \\(ARRAY\\[(.*)\\]\\)\\)\\)$`).exec(text)?.[1];
    if (words !== undefined) return Math.max(...words.split(', ').map((word) => Buffer.byteLength(word)));
  }
  return undefined;
}

interface Schema {
  readonly keys: readonly KeyColumn[];
  readonly checks: ReadonlyMap<string, readonly string[]>;
}

async function read(): Promise<Schema> {
  const hub = await startTestHub(await createTestDatabase());
  try {
    const { dataSource } = hub.runtime;
    const checks = await dataSource.query<{ table: string; text: string }[]>(CHECKS);
    const byTable = Map.groupBy(checks, ({ table }) => table);
    return {
      keys: await dataSource.query<KeyColumn[]>(KEY_COLUMNS),
      checks: new Map([...byTable].map(([table, rows]) => [table, rows.map(({ text }) => text)])),
    };
  } finally {
    await hub.close();
  }
}

it('every text in the key of an index is bounded, and each key fits an index row', async () => {
  const { keys, checks } = await read();
  const unbounded: string[] = [];
  const sizes = new Map<string, number>();
  for (const { index, table, columns, length } of keys) {
    const bounds = length >= 0 ? [length] : columns.map((column) => boundOf(column, checks.get(table) ?? []));
    if (bounds.length === 0 || bounds.includes(undefined)) unbounded.push(`${index} (${columns.join(', ')})`);
    const bytes = bounds.reduce<number>((sum, bound) => sum + (bound ?? 0) + OVERHEAD.column, 0);
    sizes.set(index, (sizes.get(index) ?? OVERHEAD.row) + bytes);
  }
  expect(unbounded).toEqual([]);
  expect([...sizes].filter(([, bytes]) => bytes > MAX_INDEX_ROW)).toEqual([]);
  // The walk sees what it should: keys of several columns, an expression, an identity.
  expect([...sizes.keys()]).toEqual(expect.arrayContaining(['local_object_pkey', 'agent_scope', 'change_log_order']));
});
