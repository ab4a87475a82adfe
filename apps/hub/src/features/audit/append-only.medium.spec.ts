import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdClaim } from '../../../test/hold-claim.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';

const FLEET = '00000000-0000-0000-0000-000000000000';
const INSERT = `INSERT INTO audit (at, project_id, principal, action, target, after, result)
  VALUES (now(), $1, 'ana', 'deleteRedisCluster', 'cache', '{"generation": 2}', 'OK') RETURNING seq`;
/** As its triggers are not there; the only way to make a row that is old. */
const backdate = (project: string): string => `ALTER TABLE audit DISABLE TRIGGER USER;
  UPDATE audit SET chained_at = now() - interval '31 days' WHERE project_id = '${project}' AND chain_no <= 2;
  ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_keep_row; ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_refuse;
  ALTER TABLE audit ENABLE TRIGGER audit_keep_new`;

describe('the audit', () => {
  let hub: TestHub;
  let claim: Awaited<ReturnType<typeof holdClaim>>;
  const query = <T>(sql: string, parameters: unknown[] = []): Promise<T[]> =>
    hub.runtime.dataSource.query<T[]>(sql, parameters);
  const add = async (project: string | null = null): Promise<number> =>
    Number((await query<{ seq: number }>(INSERT, [project]))[0]?.seq);
  beforeAll(async () => {
    hub = await startTestHub(await createTestDatabase());
    // No row gets its place in a chain meanwhile.
    claim = await holdClaim(hub, 'audit');
    await add();
  });
  afterAll(async () => {
    await claim.release();
    await hub.close();
  });

  describe.each(['origin', 'replica'])('for a session whose session_replication_role is %s', (role) => {
    it.each([
      ['UPDATE audit SET principal = $$bob$$', 'UPDATE of its row'],
      ['UPDATE audit SET after = NULL', 'UPDATE of its row'],
      ['UPDATE audit SET count = 2', 'UPDATE of its row'],
      ['UPDATE audit SET chain_no = 1, chain_hash = $$x$$, code = $$X$$ WHERE chain_no IS NULL', 'UPDATE of its row'],
      ['UPDATE audit SET chain_no = 1', 'UPDATE of its row'],
      ['UPDATE audit SET seq = DEFAULT', 'UPDATE of its row'],
      ['DELETE FROM audit', 'DELETE of its row'],
      ['TRUNCATE audit', 'TRUNCATE of audit'],
      ['DELETE FROM audit_checkpoint', 'DELETE of audit_checkpoint'],
      ['TRUNCATE audit_checkpoint', 'TRUNCATE of audit_checkpoint'],
      [`INSERT INTO audit_checkpoint (chain, chain_no, chain_hash) VALUES ('${FLEET}', 9, 'x')`, 'may only move on'],
    ])('refuses %s', async (sql, refusal) => {
      await add();
      const whole = await query('SELECT * FROM audit ORDER BY seq');
      await expect(query(`SET LOCAL session_replication_role = ${role}; ${sql}`)).rejects.toThrow(
        `the audit is append-only: `,
      );
      await expect(query(`SET LOCAL session_replication_role = ${role}; ${sql}`)).rejects.toThrow(refusal);
      expect(await query('SELECT * FROM audit ORDER BY seq')).toEqual(whole);
    });
  });

  it('takes no new row that claims a place in a chain', async () => {
    await expect(
      query(
        `INSERT INTO audit (at, principal, action, result, chain_no, chain_hash) VALUES (now(), 'a', 'b', 'OK', 7, 'x')`,
      ),
    ).rejects.toThrow('a new row has no place in a chain yet');
  });

  it('loses no row by a cascade', async () => {
    const project = randomUUID();
    await query(`INSERT INTO project (id, name, created_at) VALUES ($1, 'doomed', now())`, [project]);
    await query(
      'ALTER TABLE audit ADD CONSTRAINT doom FOREIGN KEY (project_id) REFERENCES project ON DELETE CASCADE NOT VALID',
    );
    await add(project);
    await expect(query('DELETE FROM project WHERE id = $1', [project])).rejects.toThrow('DELETE of its row');
    await query('ALTER TABLE audit DROP CONSTRAINT doom');
  });

  it('takes the place of a row in its chain once', async () => {
    const seq = await add(randomUUID());
    const place = (no: number, hash: string): Promise<unknown> =>
      query('UPDATE audit SET chain_no = $2, chain_hash = $3 WHERE seq = $1', [seq, no, hash]);
    await place(1, 'first');
    await expect(place(1, 'second')).rejects.toThrow('UPDATE of its row');
    expect(
      await query('SELECT chain_no, chain_hash, chained_at IS NOT NULL AS dated FROM audit WHERE seq = $1', [seq]),
    ).toEqual([{ chain_no: 1, chain_hash: 'first', dated: true }]);
  });

  describe('lets go of rows past their keep', () => {
    const project = randomUUID();
    const numbers = async (): Promise<unknown[]> =>
      (
        await query<{ chain_no: number }>('SELECT chain_no FROM audit WHERE project_id = $1 ORDER BY chain_no', [
          project,
        ])
      ).map(({ chain_no: no }) => no);
    beforeAll(async () => {
      for (let no = 1; no <= 3; no += 1) {
        await query(`UPDATE audit SET chain_no = $2::bigint, chain_hash = 'hash ' || $2::bigint WHERE seq = $1`, [
          await add(project),
          no,
        ]);
      }
      await query(backdate(project));
    });

    it('by no statement of its own: not without a checkpoint', async () => {
      await expect(query('DELETE FROM audit WHERE project_id = $1 AND chain_no = 1', [project])).rejects.toThrow(
        'DELETE',
      );
    });

    it('with no checkpoint that lies: the hash is that of the row, and the row is old', async () => {
      const checkpoint = `INSERT INTO audit_checkpoint (chain, chain_no, chain_hash) VALUES ($1, $2, $3)`;
      await expect(query(checkpoint, [project, 2, 'hash 1'])).rejects.toThrow('may only move on');
      await expect(query(checkpoint, [project, 3, 'hash 3'])).rejects.toThrow('may only move on');
    });

    it('not sooner than after 30 days, whatever the setting', async () => {
      await expect(query('SELECT trim_audit(29, 1000)')).rejects.toThrow('30 days at least, not for 29');
      await expect(query('SELECT trim_audit(NULL, 1000)')).rejects.toThrow('30 days at least');
    });

    it('a few at a time, and leaves a checkpoint that says who and when', async () => {
      expect(await query('SELECT trim_audit(400, 1000) AS gone')).toEqual([{ gone: 0 }]);
      const trim = async (): Promise<unknown> => (await query('SELECT trim_audit(30, 1) AS gone'))[0];
      expect(await trim()).toEqual({ gone: 1 });
      expect(await numbers()).toEqual([2, 3]);
      expect(await trim()).toEqual({ gone: 1 });
      expect(await trim()).toEqual({ gone: 0 });
      expect(await numbers()).toEqual([3]);
      expect(
        await query(
          'SELECT chain_no, chain_hash, moved_by = session_user AS told FROM audit_checkpoint WHERE chain = $1',
          [project],
        ),
      ).toEqual([{ chain_no: 2, chain_hash: 'hash 2', told: true }]);
    });

    it('and moves no checkpoint back', async () => {
      await expect(query('UPDATE audit_checkpoint SET chain_no = 1 WHERE chain = $1', [project])).rejects.toThrow(
        'may only move on',
      );
    });
  });
});
