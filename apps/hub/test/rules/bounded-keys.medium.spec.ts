/** The migration that bounds the keys of indexes, on a database to which an agent of before has told texts that are too long. */
import { expect, it } from 'vitest';

import { BoundedKeys1764660000000 } from '../../../../migrations/1764660000000-bounded-keys.ts';
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
