import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Enrolled, enrolAgent, openSession, want } from '../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { LivenessWork } from './liveness.work.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

/** One look at a fleet in which the agent was last heard so long ago, undone afterwards. */
async function lookAfter(
  enrolled: Enrolled,
  age: string,
  graceUntil: string,
): Promise<{ verdicts: unknown; state: unknown; changes: unknown }> {
  const runner = hub.runtime.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    const tx = runner.manager;
    await tx.query(
      `INSERT INTO liveness_pulse (at, grace_until) VALUES (now(), now() + $1::interval)
       ON CONFLICT (one) DO UPDATE SET at = excluded.at, grace_until = excluded.grace_until`,
      [graceUntil],
    );
    await tx.query(`UPDATE agent_seen SET seen_at = now() - $2::interval, verdict = 'FRESH' WHERE agent_id = $1`, [
      enrolled.agentId,
      age,
    ]);
    await tx.query('DELETE FROM change_log');
    const verdicts = (await new LivenessWork().look(tx)).verdicts.filter((one) => one.agentId === enrolled.agentId);
    const [session] = await tx.query<{ state: string }[]>('SELECT state FROM agent_session WHERE agent_id = $1', [
      enrolled.agentId,
    ]);
    const changes = await tx.query<unknown[]>(
      `SELECT DISTINCT topic FROM change_log WHERE xid = pg_current_xact_id() ORDER BY topic`,
    );
    return { verdicts: verdicts.map((one) => one.verdict), state: session?.state, changes };
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

describe('the verdict on an agent', () => {
  it('worsens with its silence, and is told to the subscribers of its member cluster', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    await want(hub, enrolled, 'cache');
    expect(await lookAfter(enrolled, '10 seconds', '-1 second')).toEqual({
      verdicts: [],
      state: 'CONNECTED',
      changes: [],
    });
    const told = [{ topic: 'memberCluster' }];
    expect(await lookAfter(enrolled, '50 seconds', '-1 second')).toEqual({
      verdicts: ['LATE'],
      state: 'CONNECTED',
      changes: told,
    });
    expect(await lookAfter(enrolled, '2 minutes', '-1 second')).toEqual({
      verdicts: ['UNKNOWN'],
      state: 'DISCONNECTED',
      changes: told,
    });
    agent.close();
  });

  it('waits while the hub itself was away', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    expect(await lookAfter(enrolled, '2 minutes', '1 minute')).toMatchObject({ verdicts: [], state: 'CONNECTED' });
    agent.close();
  });
});
