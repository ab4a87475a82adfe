/** Lets PostgreSQL refuse writes that are about one owner, with a chosen SQLSTATE: what no check of ours foresaw. */
import { pino } from 'pino';
import type { DataSource } from 'typeorm';

import { SetApart } from '../src/platform/database/set-apart.ts';
import { Metrics } from '../src/platform/telemetry/metrics.ts';

let count = 0;

export interface Refusal {
  readonly table: string;
  readonly on: 'INSERT' | 'UPDATE' | 'DELETE' | 'INSERT OR UPDATE' | 'INSERT OR UPDATE OR DELETE';
  /** SQL over `NEW` (`OLD` for a DELETE alone). */
  readonly when: string;
  readonly sqlstate: string;
}

/** Returns the way to end it. */
export async function raiseFor(
  dataSource: DataSource,
  { table, on, when, sqlstate }: Refusal,
): Promise<() => Promise<void>> {
  const name = `refuse_${(count += 1)}`;
  await dataSource.query(`
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF ${when} THEN RAISE EXCEPTION 'refused by a test' USING ERRCODE = '${sqlstate}'; END IF;
      RETURN ${on === 'DELETE' ? 'OLD' : 'NEW'}; END $$;
    CREATE TRIGGER ${name} BEFORE ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`);
  return async () => {
    await dataSource.query(`DROP FUNCTION IF EXISTS ${name} CASCADE`);
  };
}

/** 23514 of no constraint is a missing partition, which nobody is at fault of. One of each class of which PostgreSQL has one, but those that mean that nobody can work on it. */
export const SQLSTATES = [
  '0A000',
  '21000',
  '22P05',
  '23505',
  '2F002',
  '38000',
  '39000',
  '42P01',
  '44000',
  '54000',
  'P0001',
  'XX000',
];
/** Others were in the way: never left out, and never in the way of others. */
export const SQLSTATES_OF_OTHERS = ['40001', '40P01', '55P03', '57014'];

/** As a worker of a replica that has just started. */
export const createApart = (work: string): SetApart =>
  new SetApart({ work, log: pino({ level: 'silent' }), metrics: new Metrics(), nowMs: () => performance.now() });
