import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { WAIT } from '../../../test/wait.ts';
import { verifyAudit } from './chain/verify-audit.ts';
import { listWaysRoundAudit } from './protection.ts';

const HOW_TO = new URL('../../../../../docs/how-to/keep-the-audit.md', import.meta.url);
const HUB_ROLE = `hub_${process.pid}`;

/** As a person gets it who follows the page: with his own names. */
async function readAdvice(names: Readonly<Record<string, string>>): Promise<string> {
  const sql = /```sql\n(.*?)```/s.exec(await readFile(HOW_TO, 'utf8'))?.[1] ?? '';
  return sql.replaceAll(/:"(\w+)"/g, (_, name: string) => `"${names[name]}"`);
}

describe('a hub whose role may only add to the audit, as the how-to sets it up', () => {
  let admin: pg.Client;
  let hub: TestHub;
  beforeAll(async () => {
    const url = new URL(await createTestDatabase());
    const database = url.pathname.slice(1);
    admin = new pg.Client({ connectionString: url.toString() });
    await admin.connect();
    await admin.query(`CREATE ROLE ${HUB_ROLE} LOGIN; ALTER DATABASE ${database} OWNER TO ${HUB_ROLE}`);
    const owner = url.username;
    url.username = HUB_ROLE;
    hub = await startTestHub(url.toString());
    expect((await listWaysRoundAudit(hub.runtime.dataSource.manager)).ways).toHaveLength(3);
    await admin.query(await readAdvice({ hub: HUB_ROLE, database, admin: owner }));
  });
  afterAll(async () => {
    await hub.close();
    await admin.query(`DROP OWNED BY ${HUB_ROLE}, atoll_audit CASCADE; DROP ROLE ${HUB_ROLE}, atoll_audit`);
    await admin.end();
  });

  it('knows no way round it', async () => {
    expect(await listWaysRoundAudit(hub.runtime.dataSource.manager)).toEqual({ role: HUB_ROLE, ways: [] });
  });

  it.each([
    'UPDATE audit SET principal = $$bob$$',
    'DELETE FROM audit',
    'TRUNCATE audit',
    'DELETE FROM audit_checkpoint',
    'INSERT INTO audit_checkpoint VALUES (gen_random_uuid(), 1, $$x$$, now(), $$x$$)',
    'ALTER TABLE audit DISABLE TRIGGER ALL',
    'DROP TRIGGER audit_keep_row ON audit',
    'DROP TABLE audit',
    'DROP SCHEMA public CASCADE',
    'ALTER TABLE audit OWNER TO CURRENT_USER',
    'SET ROLE atoll_audit',
    'SET session_replication_role = replica',
    'CREATE OR REPLACE FUNCTION audit_keep_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$',
    'DROP FUNCTION trim_audit',
  ])('cannot %s', async (sql) => {
    await expect(hub.runtime.dataSource.query(sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('writes, chains, trims and starts again as before', async () => {
    const { manager } = hub.runtime.dataSource;
    await manager.query(`INSERT INTO audit (at, principal, action, result) VALUES (now(), 'ana', 'x', 'OK')`);
    await expect.poll(() => verifyAudit(manager, []), WAIT).toMatchObject({ rows: 2, unchained: 0, faults: [] });
    const expired = `ALTER TABLE audit DISABLE TRIGGER audit_keep_row;
      UPDATE audit SET chained_at = now() - interval '401 days'; ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_keep_row`;
    await admin.query(expired);
    expect(await manager.query('SELECT trim_audit(400, 10) AS gone')).toEqual([{ gone: 2 }]);
    expect(await verifyAudit(manager, [])).toMatchObject({ rows: 0, faults: [] });
    const other = await startTestHub(hub.runtime.databaseUrl, { like: hub });
    await other.close();
  });
});
