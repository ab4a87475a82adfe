/** The migration that bounds the keys of indexes, on a database to which an agent of before has told texts that are too long. */
import { expect, it } from 'vitest';

import { BoundedKeys1764660000000 } from '../../../../migrations/1764660000000-bounded-keys.ts';
import { fillChain } from '../../src/features/audit/chain/fill-chain.ts';
import { enrolAgent, want } from '../link-fixture.ts';
import { createTestDatabase, startTestHub } from '../start-test-hub.ts';

it('what an agent of before told in too many bytes is put right, counts agree, and more of it is refused', async () => {
  const hub = await startTestHub(await createTestDatabase());
  const runner = hub.runtime.dataSource.createQueryRunner();
  try {
    const enrolled = await enrolAgent(hub);
    const { hubUid } = await want(hub, enrolled, 'cache');
    await new BoundedKeys1764660000000().down(runner);
    const long = 'p'.repeat(600);
    await runner.query('UPDATE rollup_entry SET phase = $2 WHERE hub_uid = $1', [hubUid, long]);
    await runner.query(
      `INSERT INTO resource_status (hub_uid, session_no, counter, phase, status_hash, received_at)
       VALUES ($1, 1, 0, $2, '', now())`,
      [hubUid, long],
    );
    await runner.query(
      `INSERT INTO local_object (agent_id, namespace, name, kind, kube_uid, item, session_no, counter, received_at)
       VALUES ($1, 'n', 'short', 'K', 'u', '{}', 1, 0, now()), ($1, 'n', $2, 'K', 'u', '{}', 1, 0, now())`,
      [enrolled.agentId, long],
    );
    await new BoundedKeys1764660000000().up(runner);
    const phases = (table: string): Promise<unknown> =>
      runner.query(`SELECT phase FROM ${table} WHERE agent_id = $1`, [enrolled.agentId]);
    expect(await phases('rollup_entry')).toEqual([{ phase: 'Unknown' }]);
    const counts = 'SELECT phase FROM agent_rollup WHERE agent_id = $1 AND count <> 0';
    expect(await runner.query(counts, [enrolled.agentId])).toEqual([{ phase: 'Unknown' }]);
    expect(await runner.query('SELECT phase FROM resource_status')).toEqual([{ phase: null }]);
    expect(await runner.query('SELECT name FROM local_object')).toEqual([{ name: 'short' }]);
    await expect(
      runner.query('UPDATE rollup_entry SET phase = $2 WHERE hub_uid = $1', [hubUid, long]),
    ).rejects.toMatchObject({ driverError: { code: '23514', constraint: 'rollup_entry_phase_bytes' } });
  } finally {
    await runner.release();
    await hub.close();
  }
});

it('what the release before took stays workable: an audit row gets its place in the chain, a member cluster its next state', async () => {
  const hub = await startTestHub(await createTestDatabase());
  const { dataSource } = hub.runtime;
  const runner = dataSource.createQueryRunner();
  try {
    const enrolled = await enrolAgent(hub);
    await new BoundedKeys1764660000000().down(runner);
    await runner.query('ALTER TABLE audit DISABLE TRIGGER ALL');
    await runner.query(
      `INSERT INTO audit (at, principal, action, target, result) VALUES (now(), 'viewer', 'enrolMemberCluster', repeat('a', 4000), 'REFUSED')`,
    );
    await runner.query(`UPDATE member_cluster SET fingerprint = repeat('語', 512) WHERE id = $1`, [
      enrolled.memberClusterId,
    ]);
    await new BoundedKeys1764660000000().up(runner);
    await runner.query('ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_keep_row, ENABLE ALWAYS TRIGGER audit_refuse');
    await runner.query(`UPDATE member_cluster SET state = 'FORGOTTEN' WHERE id = $1`, [enrolled.memberClusterId]);
    await dataSource.transaction((tx) => fillChain(tx, 1_000));
    expect(await runner.query('SELECT count(*)::int AS left FROM audit WHERE chain_no IS NULL')).toEqual([{ left: 0 }]);
  } finally {
    await runner.release();
    await hub.close();
  }
});
