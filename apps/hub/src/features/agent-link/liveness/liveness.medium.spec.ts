import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Enrolled, enrol, enrolAgent, openSession, want } from '../../../../test/link-fixture.ts';
import { createApart } from '../../../../test/raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { LivenessWork } from './liveness.work.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

/** What `work` does is undone afterwards. */
async function undone<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
  const runner = hub.runtime.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    return await work(runner.manager);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

/** One look at a fleet in which the agent was last heard so long ago, undone afterwards. */
async function lookAfter(
  enrolled: Enrolled,
  age: string,
  graceUntil: string,
): Promise<{ verdicts: unknown; state: unknown; changes: unknown }> {
  return undone(async (tx) => {
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
    const verdicts = (await new LivenessWork(createApart('liveness')).look(tx)).verdicts.filter(
      (one) => one.agentId === enrolled.agentId,
    );
    const [session] = await tx.query<{ state: string }[]>('SELECT state FROM agent_session WHERE agent_id = $1', [
      enrolled.agentId,
    ]);
    const changes = await tx.query<unknown[]>(
      `SELECT DISTINCT topic FROM change_log WHERE xid = pg_current_xact_id() ORDER BY topic`,
    );
    return { verdicts: verdicts.map((one) => one.verdict), state: session?.state, changes };
  });
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

  it('is due with the moment the next age passes', async () => {
    const { agentId } = await enrolAgent(hub);
    const due = async (age: string, verdict: string): Promise<number | null> =>
      undone(async (tx) => {
        await tx.query(`UPDATE agent_seen SET seen_at = now() + interval '1 hour', verdict = 'FRESH'`);
        await tx.query(
          `INSERT INTO agent_seen (agent_id, seen_at, verdict) VALUES ($1, now() - $2::interval, $3)
           ON CONFLICT (agent_id) DO UPDATE SET seen_at = excluded.seen_at, verdict = excluded.verdict`,
          [agentId, age, verdict],
        );
        return (await new LivenessWork(createApart('liveness')).look(tx)).dueInMs;
      });
    expect(await due('44 seconds', 'FRESH')).toBeCloseTo(1_000, 0);
    expect(await due('89 seconds', 'LATE')).toBeCloseTo(1_000, 0);
    expect(await due('89 seconds', 'UNKNOWN')).toBeGreaterThan(3_600_000);
  });

  it('of many waits for a second look, which another replica may take', async () => {
    await undone(async (tx) => {
      const place = await enrol(hub);
      await tx.query(`UPDATE agent_seen SET seen_at = now(), verdict = 'FRESH'`);
      await tx.query(
        `INSERT INTO agent (id, member_cluster_id, scope_kind, scope_namespace, state, created_at)
         SELECT gen_random_uuid(), $1, 'NAMESPACE', 'ns-' || n, 'ACTIVE', now() FROM generate_series(1, 30) AS n`,
        [place.memberClusterId],
      );
      await tx.query(
        `INSERT INTO agent_seen (agent_id, seen_at, verdict) SELECT id, now() - interval '95 seconds', 'LATE' FROM agent
         WHERE member_cluster_id = $1 AND scope_kind = 'NAMESPACE'`,
        [place.memberClusterId],
      );
      await tx.query(
        `INSERT INTO liveness_pulse (at, grace_until) VALUES (now(), now())
         ON CONFLICT (one) DO UPDATE SET at = excluded.at, grace_until = excluded.grace_until, mass_since = NULL`,
      );
      expect((await new LivenessWork(createApart('liveness')).look(tx)).verdicts).toEqual([]);
      expect((await new LivenessWork(createApart('liveness')).look(tx)).verdicts).toEqual([]);
      await tx.query(`UPDATE liveness_pulse SET mass_since = mass_since - interval '16 seconds'`);
      expect((await new LivenessWork(createApart('liveness')).look(tx)).verdicts).toHaveLength(30);
    });
  });

  it("does not wait for a time that was only the clock's: put forward by an hour, and then right", async () => {
    const { agentId } = await enrolAgent(hub);
    await undone(async (tx) => {
      await tx.query(
        `INSERT INTO liveness_pulse (at, grace_until, mass_since) VALUES (now() + interval '1 hour', now() + interval '1 hour', now() + interval '1 hour')
         ON CONFLICT (one) DO UPDATE SET at = excluded.at, grace_until = excluded.grace_until, mass_since = excluded.mass_since`,
      );
      await tx.query(
        `INSERT INTO agent_seen (agent_id, seen_at) VALUES ($1, now() + interval '1 hour')
         ON CONFLICT (agent_id) DO UPDATE SET seen_at = excluded.seen_at`,
        [agentId],
      );
      await new LivenessWork(createApart('liveness')).look(tx);
      const [pulse] = await tx.query<{ grace: number; isMassAhead: boolean | null }[]>(
        `SELECT extract(epoch FROM grace_until - now())::float8 AS grace, mass_since > now() AS "isMassAhead" FROM liveness_pulse`,
      );
      expect(pulse?.grace).toBeLessThanOrEqual(90);
      expect(pulse?.isMassAhead).not.toBe(true);
      const [seen] = await tx.query<{ isAhead: boolean }[]>(
        'SELECT seen_at > now() AS "isAhead" FROM agent_seen WHERE agent_id = $1',
        [agentId],
      );
      expect(seen?.isAhead).toBe(false);
    });
  });
});
