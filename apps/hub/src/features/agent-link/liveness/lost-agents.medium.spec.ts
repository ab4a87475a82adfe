import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { approve, type Enrolled, enrolAgent, openSession, revoke, want } from '../../../../test/link-fixture.ts';
import { createApart } from '../../../../test/raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { TestAgent } from '../../../../test/test-agent.ts';
import { WORKER_LOCK } from '../../../platform/database/advisory-locks.ts';
import { foldFleet } from '../rollups/fold-fleet.ts';
import { LivenessWork } from './liveness.work.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

interface Seen {
  readonly verdict: string;
  readonly ready: number;
  readonly unknown: number;
}

/** The hub's own worker folds as well, and only one may at a time. */
async function foldAlone(tx: EntityManager): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [WORKER_LOCK.health]);
  await foldFleet(tx);
}

/** What dashboards and lists say of this agent's one object, folded anew. */
async function look(enrolled: Enrolled): Promise<Seen | undefined> {
  const { dataSource } = hub.runtime;
  await dataSource.transaction(foldAlone);
  const rows = await dataSource.query<Seen[]>(
    `SELECT (SELECT verdict FROM agent_seen WHERE agent_id = $1) AS verdict, sum(ready)::int AS ready,
       sum(unknown)::int AS unknown FROM member_cluster_rollup WHERE member_cluster_id = $2`,
    [enrolled.agentId, enrolled.memberClusterId],
  );
  return rows[0];
}

async function runReadyCache(): Promise<{ enrolled: Enrolled; agent: TestAgent }> {
  const enrolled = await enrolAgent(hub);
  const { agent } = await openSession(hub, enrolled);
  const { hubUid } = await want(hub, enrolled, 'cache');
  await hub.runtime.dataSource.query(`UPDATE rollup_entry SET phase = 'Ready' WHERE hub_uid = $1`, [hubUid]);
  expect(await look(enrolled)).toEqual({ verdict: 'FRESH', ready: 1, unknown: 0 });
  await hub.runtime.dataSource.query('DELETE FROM change_log');
  return { enrolled, agent };
}

const toldSubjects = async (): Promise<unknown[]> =>
  (await hub.runtime.dataSource.query<{ subject: string }[]>('SELECT DISTINCT subject FROM change_log')).map(
    (row) => row.subject,
  );

describe('what an agent runs that may not speak any more', () => {
  it('is unknown from the revocation on', async () => {
    const { enrolled } = await runReadyCache();
    await revoke(hub, enrolled.agentId);
    expect(await look(enrolled)).toEqual({ verdict: 'UNKNOWN', ready: 0, unknown: 1 });
    expect(await toldSubjects()).toContain(enrolled.memberClusterId);
  });

  it('is unknown while the agent is quarantined, and known again once a person approved it', async () => {
    const { enrolled, agent } = await runReadyCache();
    const elsewhere = await TestAgent.connect(hub, enrolled.identity);
    elsewhere.hello({ fingerprint: 'kubeSystemUid:other' });
    expect(await elsewhere.next('Refused')).toMatchObject({ code: 'FINGERPRINT_MISMATCH' });
    expect(await look(enrolled)).toEqual({ verdict: 'UNKNOWN', ready: 0, unknown: 1 });
    expect(await toldSubjects()).toContain(enrolled.memberClusterId);
    await agent.waitForClose();
    await approve(hub, enrolled.agentId);
    const { agent: back } = await openSession(hub, enrolled);
    expect(await look(enrolled)).toEqual({ verdict: 'FRESH', ready: 1, unknown: 0 });
    back.close();
  });

  it('is unknown even where an older release left it fresh', async () => {
    const { enrolled, agent } = await runReadyCache();
    agent.close();
    await hub.runtime.dataSource.transaction(async (tx) => {
      await tx.query(`UPDATE agent SET state = 'REVOKED' WHERE id = $1`, [enrolled.agentId]);
      const { verdicts } = await new LivenessWork(createApart('liveness')).look(tx);
      expect(verdicts).toContainEqual({ agentId: enrolled.agentId, verdict: 'UNKNOWN' });
    });
    expect(await look(enrolled)).toEqual({ verdict: 'UNKNOWN', ready: 0, unknown: 1 });
  });
});
