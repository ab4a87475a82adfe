import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { WAIT } from '../../../test/wait.ts';
import { PartitionKeeper } from './partition-keeper.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let hub: TestHub;
let dump: pg.Client;
beforeAll(async () => {
  const databaseUrl = await createTestDatabase();
  hub = await startTestHub(databaseUrl);
  dump = new pg.Client({ connectionString: databaseUrl });
  await dump.connect();
});
afterAll(async () => {
  await dump.end();
  await hub.close();
});

const query = <T>(sql: string): Promise<T[]> => hub.runtime.dataSource.query<T[]>(sql);
/** The keeper of a replica whose clock is ahead of the database's by so much. */
function keeperOf(aheadMs = 0): { readonly keeper: PartitionKeeper; readonly codes: string[] } {
  const codes: string[] = [];
  const write = (line: string): void => void codes.push((JSON.parse(line) as { code: string }).code);
  const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
  const { dataSource } = hub.runtime;
  return { keeper: new PartitionKeeper({ dataSource, clock, log: pino({ level: 'error' }, { write }) }), codes };
}
const make = async (aheadMs = 0): Promise<void> => {
  const { keeper } = keeperOf(aheadMs);
  await hub.runtime.dataSource.transaction((tx) => keeper.keep(tx));
  await keeper.stop();
};
const listPartitions = async (table = 'change_log'): Promise<readonly string[]> => {
  const rows = await query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${table}'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
};
const write = (): Promise<unknown> =>
  query(`INSERT INTO change_log (at, topic, kind) VALUES (now(), 'test', 'CHANGED')`);
/** A partition of the log of so many hours ago. */
async function makeOld(hoursAgo: number): Promise<string> {
  const hour = Math.floor(Date.now() / HOUR_MS) - hoursAgo;
  const [from, to] = [hour, hour + 1].map((each) => new Date(each * HOUR_MS).toISOString());
  await query(`CREATE TABLE change_log_p${hour} PARTITION OF change_log FOR VALUES FROM ('${from}') TO ('${to}')`);
  return `change_log_p${hour}`;
}

describe('partitions', () => {
  it('are made while a pg_dump reads, and those past their keep stay until it has ended: no write waits for it', async () => {
    const old = await makeOld(100);
    await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await dump.query('LOCK TABLE change_log, event IN ACCESS SHARE MODE');
    const laterMs = 3 * HOUR_MS;
    const { keeper } = keeperOf();
    await Promise.all([make(laterMs), keeper.drop(), write(), write()]);
    const during = await listPartitions();
    expect(during).toContain(old);
    expect(during).toContain(`change_log_p${Math.floor((Date.now() + laterMs) / HOUR_MS) + 6}`);
    await write();

    await dump.query('COMMIT');
    await keeper.drop();
    expect(await listPartitions()).not.toContain(old);
    await write();
  });

  it('that a view of somebody holds are told; the others past their keep go, and new ones are made', async () => {
    const [held, old] = [await makeOld(201), await makeOld(200)];
    await query(`CREATE VIEW of_a_person AS SELECT * FROM ${held}`);
    const { keeper, codes } = keeperOf();
    await hub.runtime.dataSource.transaction((tx) => keeper.keep(tx));
    await keeper.stop();
    // A table that somebody reads in that moment is left for the next look.
    const untilGone = (partition: string): Promise<void> =>
      vi.waitFor(async () => {
        await keeper.drop();
        expect(await listPartitions()).not.toContain(partition);
      }, WAIT);
    await untilGone(old);
    expect(await listPartitions()).toContain(held);
    expect(codes).toEqual(['PARTITION_NOT_DROPPED']);
    await query('DROP VIEW of_a_person');
    await untilGone(held);
  });

  it('do not hold up each other when one cannot be made', async () => {
    const hour = Math.floor(Date.now() / HOUR_MS) + 48;
    await query(`CREATE TABLE change_log_p${hour} (somebody text)`);
    const { keeper, codes } = keeperOf(48 * HOUR_MS);
    expect(await hub.runtime.dataSource.transaction((tx) => keeper.keep(tx))).toBeGreaterThan(0);
    await keeper.stop();
    expect(codes).toContain('PARTITION_NOT_MADE');
    expect(keeper.isWorthALook).toBe(false);
    expect(await listPartitions()).toContain(`change_log_p${hour + 1}`);
    await query(`DROP TABLE change_log_p${hour}`);
  });

  it.each([32 * DAY_MS, -32 * DAY_MS])('are not dropped by a replica whose clock is off by %d ms', async (aheadMs) => {
    const old = await makeOld(300);
    const before = [await listPartitions('event'), await listPartitions()];
    const { keeper, codes } = keeperOf(aheadMs);
    await keeper.drop();
    await keeper.drop();
    expect([await listPartitions('event'), await listPartitions()]).toEqual(before);
    expect(codes).toEqual(['CLOCKS_DIFFER']);
    await query(`DROP TABLE ${old}`);
  });
});
