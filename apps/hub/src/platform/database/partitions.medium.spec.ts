import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { maintainPartitions } from './partitions.ts';

const HOUR_MS = 3_600_000;

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

const maintain = (nowMs: number): Promise<void> =>
  hub.runtime.dataSource.transaction((tx) => maintainPartitions(tx, nowMs));
const listPartitions = async (): Promise<readonly string[]> => {
  const rows = await hub.runtime.dataSource.query<{ name: string }[]>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'change_log'::regclass`,
  );
  return rows.map(({ name }) => name);
};
const write = (): Promise<unknown> =>
  hub.runtime.dataSource.query(`INSERT INTO change_log (at, topic, kind) VALUES (now(), 'test', 'CHANGED')`);

describe('partitions while a pg_dump reads', () => {
  it('are made, and those past their keep stay until it has ended: no write waits for it', async () => {
    const old = Math.floor(Date.now() / HOUR_MS) - 100;
    const [from, to] = [old, old + 1].map((hour) => new Date(hour * HOUR_MS).toISOString());
    await hub.runtime.dataSource.query(
      `CREATE TABLE change_log_p${old} PARTITION OF change_log FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
    await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await dump.query('LOCK TABLE change_log, event IN ACCESS SHARE MODE');
    const later = Date.now() + 3 * HOUR_MS;
    await Promise.all([maintain(later), write(), write()]);
    const during = await listPartitions();
    expect(during).toContain(`change_log_p${old}`);
    expect(during).toContain(`change_log_p${Math.floor(later / HOUR_MS) + 6}`);
    await write();

    await dump.query('COMMIT');
    await maintain(later);
    expect(await listPartitions()).not.toContain(`change_log_p${old}`);
    await write();
  });
});
