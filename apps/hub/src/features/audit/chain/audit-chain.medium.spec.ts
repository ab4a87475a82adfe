import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { holdClaim } from '../../../../test/hold-claim.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { FLEET_CHAIN, type ChainHead } from './chain-link.rules.ts';
import { fillChain } from './fill-chain.ts';
import { trimWork } from './trim-work.ts';
import { verifyAudit, type AuditReport } from './verify-audit.ts';

const DAY_MS = 86_400_000;

describe('the chain of the audit', () => {
  let hub: TestHub;
  const held: { release(): Promise<void> }[] = [];
  let project: string;
  const query = <T>(sql: string, parameters: unknown[] = []): Promise<T[]> =>
    hub.runtime.dataSource.query<T[]>(sql, parameters);
  beforeAll(async () => {
    hub = await startTestHub(await createTestDatabase());
    held.push(await holdClaim(hub, 'audit'), await holdClaim(hub, 'auditTrim'));
  });
  beforeEach(async () => {
    await asOwner('TRUNCATE audit, audit_checkpoint');
    project = randomUUID();
  });
  afterAll(async () => {
    for (const claim of held) await claim.release();
    await hub.close();
  });

  /** What only somebody can do who owns the table. */
  const asOwner = (sql: string): Promise<unknown> =>
    query(`ALTER TABLE audit DISABLE TRIGGER ALL; ALTER TABLE audit_checkpoint DISABLE TRIGGER ALL; ${sql};
      ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_keep_row; ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_refuse;
      ALTER TABLE audit ENABLE TRIGGER audit_keep_new;
      ALTER TABLE audit_checkpoint ENABLE ALWAYS TRIGGER audit_keep_checkpoint, ENABLE ALWAYS TRIGGER audit_refuse`);
  async function add(rows: number, of: string | null = project): Promise<void> {
    await query(
      `INSERT INTO audit (at, project_id, principal, action, target, before, after, result)
       SELECT now(), $1::uuid, 'ana', 'updateRedisCluster', 'cache ' || n, '{"n": 1.50}', jsonb_build_object('n', n), 'OK'
       FROM generate_series(1, $2::int) AS n`,
      [of, rows],
    );
  }
  const fill = (most = 1_000): Promise<{ rows: number; heads: readonly ChainHead[] }> =>
    hub.runtime.dataSource.transaction((tx) => fillChain(tx, most));
  const verify = (expected: readonly ChainHead[] = []): Promise<AuditReport> =>
    verifyAudit(hub.runtime.dataSource.manager, expected);
  const age = (upTo: number, days: number): Promise<unknown> =>
    asOwner(`UPDATE audit SET chained_at = now() - interval '${days} days' WHERE chain_no <= ${upTo}`);
  const trim = (keepDays: number, nowMs = Date.now()): Promise<number | undefined> =>
    hub.runtime.dataSource.transaction((tx) => trimWork(tx, { nowMs: () => nowMs, monotonicMs: () => 0 }, keepDays));

  it('has one per project and one of what belongs to none, filled in parts, and holds', async () => {
    const other = randomUUID();
    await add(5);
    await add(3, null);
    await add(4, other);
    expect((await fill(7)).rows).toBe(7);
    expect((await fill(7)).rows).toBe(5);
    expect(await fill(7)).toEqual({ rows: 0, heads: [] });
    const report = await verify();
    expect(report).toMatchObject({ rows: 12, unchained: 0, faults: [], removed: [] });
    expect(new Map(report.heads.map(({ chain, chainNumber }) => [chain, chainNumber]))).toEqual(
      new Map([
        [project, 5],
        [FLEET_CHAIN, 3],
        [other, 4],
      ]),
    );
  });

  it('counts rows that have no place yet, and holds', async () => {
    await add(2);
    expect(await verify()).toMatchObject({ rows: 0, unchained: 2, faults: [] });
  });

  it('goes over many pages of rows', async () => {
    await add(2_500);
    await fill(3_000);
    expect(await verify()).toMatchObject({ rows: 2_500, faults: [] });
  });

  it.each([
    ['who did it', `principal = 'bob'`],
    ['when', `at = at + interval '1 microsecond'`],
    ['what came of it', `after = '{"n": 3.0}'`],
    ['what was there before, by a digit that means nothing', `before = '{"n": 1.5}'`],
  ])('shows the first row in which %s was changed', async (_, change) => {
    await add(5);
    await add(5, null);
    await fill();
    await asOwner(`UPDATE audit SET ${change} WHERE chain_no = 3 AND project_id IS NOT NULL`);
    const [row] = await query<{ seq: number }>('SELECT seq FROM audit WHERE chain_no = 3 AND project_id IS NOT NULL');
    const { faults } = await verify();
    expect(faults).toHaveLength(1);
    expect(faults).toMatchObject([{ reason: 'HASH_DIFFERS', chain: project, chainNumber: 3, seq: row?.seq }]);
  });

  it('shows the first row after one that was deleted, at its beginning too', async () => {
    await add(5);
    await add(5, null);
    await fill();
    await asOwner(
      'DELETE FROM audit WHERE chain_no = 3 AND project_id IS NOT NULL OR chain_no = 1 AND project_id IS NULL',
    );
    const { faults } = await verify();
    expect(faults).toMatchObject([
      { reason: 'ROW_MISSING', chain: FLEET_CHAIN, chainNumber: 2 },
      { reason: 'ROW_MISSING', chain: project, chainNumber: 4 },
    ]);
  });

  it('shows by a head written down elsewhere that its end was cut, or that all of it was made again', async () => {
    await add(5);
    const { heads } = await fill();
    expect(await verify(heads)).toMatchObject({ faults: [] });
    await asOwner('DELETE FROM audit WHERE chain_no = 5');
    expect(await verify()).toMatchObject({ faults: [] });
    expect(await verify(heads)).toMatchObject({ faults: [{ reason: 'EXPECTED_MISSING', chainNumber: 5 }] });
    await asOwner(`UPDATE audit SET principal = 'bob', chain_no = NULL, chain_hash = NULL, chained_at = NULL`);
    await add(1);
    await fill();
    expect(await verify()).toMatchObject({ rows: 5, faults: [] });
    expect(await verify(heads)).toMatchObject({ faults: [{ reason: 'EXPECTED_DIFFERS', chainNumber: 5 }] });
  });

  describe('whose rows are past their keep', () => {
    it('loses only those, and holds from its checkpoint on', async () => {
      await add(5);
      const { heads } = await fill();
      await age(3, 401);
      await trim(400);
      expect(await query('SELECT chain_no FROM audit ORDER BY chain_no')).toEqual([{ chain_no: 4 }, { chain_no: 5 }]);
      await add(1);
      await fill();
      expect(await verify(heads)).toMatchObject({ rows: 3, faults: [], removed: [] });
      await asOwner('DELETE FROM audit WHERE chain_no = 4');
      expect(await verify()).toMatchObject({ faults: [{ reason: 'ROW_MISSING', chainNumber: 5 }] });
    });

    it('goes on where it was when all of its rows have left', async () => {
      await add(3);
      const { heads } = await fill();
      await age(3, 401);
      await trim(400);
      expect(await verify(heads)).toMatchObject({ rows: 0, faults: [] });
      await add(1);
      expect((await fill()).heads).toMatchObject([{ chain: project, chainNumber: 4 }]);
      expect(await verify(heads)).toMatchObject({ rows: 1, faults: [] });
      expect(await verify([{ chain: project, chainNumber: 2, chainHash: 'x' }])).toMatchObject({
        faults: [],
        removed: [{ chainNumber: 2 }],
      });
    });

    it('keeps a row that is not chained, however old it says it is', async () => {
      await query(`INSERT INTO audit (at, principal, action, result) VALUES ('2001-01-01', 'ana', 'x', 'OK')`);
      await trim(30);
      await fill();
      await trim(30);
      expect(await verify()).toMatchObject({ rows: 1, faults: [] });
    });

    it('keeps the rest behind one that is not old yet', async () => {
      await add(3);
      await fill();
      await asOwner(`UPDATE audit SET chained_at = now() - interval '401 days' WHERE chain_no <> 2`);
      await trim(400);
      expect(await verify()).toMatchObject({ rows: 2, faults: [] });
    });

    it('loses a bounded number at once, and is due again', async () => {
      await add(2_500);
      await fill(3_000);
      await age(2_500, 401);
      expect(await trim(400)).toBeGreaterThan(0);
      expect(await verify()).toMatchObject({ rows: 1_500, faults: [] });
      await trim(400);
      expect(await trim(400)).toBeUndefined();
      expect(await verify()).toMatchObject({ rows: 0, faults: [] });
    });

    it.each([-DAY_MS, DAY_MS])('loses none while the clocks differ (by %i ms)', async (differenceMs) => {
      await add(1);
      await fill();
      await age(1, 401);
      await trim(400, Date.now() + differenceMs);
      expect(await verify()).toMatchObject({ rows: 1 });
    });
  });

  it('is filled by the hub itself', async () => {
    await held.shift()?.release();
    await add(2);
    await expect
      .poll(() => verify(), { timeout: 15_000, interval: 100 })
      .toMatchObject({ rows: 2, unchained: 0, faults: [] });
  });
});
