import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { holdClaim } from '../../../../test/hold-claim.ts';
import { approve, type Enrolled, enrol, enrolAgent, openSession, want } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { foldFleet } from './fold-fleet.ts';
import { FoldWork } from './fold.work.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

const query = <T>(sql: string, parameters: unknown[] = []): Promise<T[]> =>
  hub.runtime.dataSource.query<T[]>(sql, parameters);

/** The hub's own workers must not come between the steps of these tests: a look at liveness marks what it judges anew. */
let claim: EntityManager;
beforeEach(async () => {
  const looks = await holdClaim(hub, 'liveness');
  const held = await holdClaim(hub, 'health');
  claim = held.manager;
  await foldAll();
  return async () => {
    await held.release();
    await looks.release();
  };
});

async function foldAll(): Promise<number> {
  const { marks } = await foldFleet(claim);
  return marks;
}

interface Counts {
  readonly region: string;
  readonly total: number;
  readonly ready: number;
  readonly unknown: number;
  readonly late: number;
}

const ofMemberCluster = (id: string): Promise<Counts[]> =>
  query<Counts>(
    `SELECT region, sum(total)::int AS total, sum(ready)::int AS ready, sum(unknown)::int AS unknown, sum(late)::int AS late
     FROM member_cluster_rollup WHERE member_cluster_id = $1 GROUP BY region`,
    [id],
  );
const ofRegions = (projectId: string): Promise<Counts[]> =>
  query<Counts>(
    `SELECT region, sum(total)::int AS total, sum(ready)::int AS ready, sum(unknown)::int AS unknown, sum(late)::int AS late
     FROM region_rollup WHERE project_id = $1 GROUP BY region HAVING sum(total) <> 0 ORDER BY region`,
    [projectId],
  );

const setPhase = (hubUid: string, phase: string): Promise<unknown[]> =>
  query('UPDATE rollup_entry SET phase = $2 WHERE hub_uid = $1', [hubUid, phase]);

async function runCache(): Promise<{ readonly enrolled: Enrolled; readonly hubUid: string }> {
  const enrolled = await enrolAgent(hub);
  const { agent } = await openSession(hub, enrolled);
  const { hubUid } = await want(hub, enrolled, 'cache');
  await setPhase(hubUid, 'Ready');
  agent.close();
  await agent.waitForClose();
  await foldAll();
  return { enrolled, hubUid };
}

const READY = { total: 1, ready: 1, unknown: 0, late: 0 };

describe('a fold', () => {
  it('takes what is marked, and nothing more', async () => {
    const { enrolled, hubUid } = await runCache();
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: '', ...READY }]);
    expect(await foldAll()).toBe(0);
    await setPhase(hubUid, 'Degraded');
    expect(await foldAll()).toBeGreaterThan(0);
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: '', ...READY, ready: 0 }]);
    expect(await ofRegions(enrolled.projectId)).toEqual([{ region: '', ...READY, ready: 0 }]);
  });

  it('follows a member cluster to another region, in both counts', async () => {
    const { enrolled } = await runCache();
    await query(`UPDATE member_cluster SET region = 'eu' WHERE id = $1`, [enrolled.memberClusterId]);
    await foldAll();
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: 'eu', ...READY }]);
    expect(await ofRegions(enrolled.projectId)).toEqual([{ region: 'eu', ...READY }]);
  });

  it('counts late ones besides, and unknown ones apart', async () => {
    const { enrolled } = await runCache();
    const { agentId, projectId } = enrolled;
    await query(`UPDATE agent_seen SET verdict = 'LATE' WHERE agent_id = $1`, [agentId]);
    await foldAll();
    expect(await ofRegions(projectId)).toEqual([{ region: '', ...READY, late: 1 }]);
    await query(`UPDATE agent_seen SET verdict = 'UNKNOWN' WHERE agent_id = $1`, [agentId]);
    await foldAll();
    expect(await ofRegions(projectId)).toEqual([{ region: '', total: 1, ready: 0, unknown: 1, late: 0 }]);
  });

  it('is not owed by a heartbeat', async () => {
    const { enrolled } = await runCache();
    await query('UPDATE agent_seen SET seen_at = now() WHERE agent_id = $1', [enrolled.agentId]);
    expect(await foldAll()).toBe(0);
  });

  it('moves what an agent runs to the member cluster that it is joined to', async () => {
    const { enrolled } = await runCache();
    const other = await enrol(hub);
    await query(`UPDATE agent SET state = 'REVOKED' WHERE id = $1`, [other.agentId]);
    await query('UPDATE agent SET member_cluster_id = $2 WHERE id = $1', [enrolled.agentId, other.memberClusterId]);
    await foldAll();
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([]);
    expect(await ofMemberCluster(other.memberClusterId)).toEqual([{ region: '', ...READY }]);
    await query('UPDATE agent SET member_cluster_id = $2 WHERE id = $1', [enrolled.agentId, enrolled.memberClusterId]);
  });

  it('forgets what was deleted', async () => {
    const { enrolled, hubUid } = await runCache();
    await query('DELETE FROM resource WHERE hub_uid = $1', [hubUid]);
    await foldAll();
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([]);
    expect(await ofRegions(enrolled.projectId)).toEqual([]);
  });
});

describe('a mark', () => {
  it('that commits after the worker looked is found by its next look', async () => {
    const { enrolled, hubUid } = await runCache();
    const writer = hub.runtime.dataSource.createQueryRunner();
    await writer.startTransaction();
    await writer.query(`UPDATE rollup_entry SET phase = 'Degraded' WHERE hub_uid = $1`, [hubUid]);
    await query('INSERT INTO rollup_mark (agent_id) VALUES ($1)', [enrolled.agentId]);
    expect(await foldAll()).toBe(1);
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: '', ...READY }]);
    await writer.commitTransaction();
    await writer.release();
    expect(await foldAll()).toBeGreaterThan(0);
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: '', ...READY, ready: 0 }]);
  });

  it('makes no writer wait for another or for the worker', async () => {
    const { enrolled } = await runCache();
    const writers = [1, 2].map(() => hub.runtime.dataSource.createQueryRunner());
    for (const writer of writers) {
      await writer.startTransaction();
      await writer.query(`SET LOCAL lock_timeout = '1s'`);
      await writer.query('INSERT INTO rollup_mark (agent_id) VALUES ($1)', [enrolled.agentId]);
    }
    expect(await foldAll()).toBe(0);
    for (const writer of writers) {
      await writer.commitTransaction();
      await writer.release();
    }
    expect(await foldAll()).toBe(2);
  });
});

describe('the check of the counts', () => {
  async function checkAll(): Promise<string[]> {
    const lines: string[] = [];
    const work = new FoldWork(pino({ level: 'info' }, { write: (line) => void lines.push(line) }));
    await claim.transaction((tx) => work.tick(tx, Date.now()));
    return lines.map((line) => ((JSON.parse(line) as { level: number; msg: string }).level >= 50 ? 'error' : 'info'));
  }

  it('finds nothing in counts that are right, also while a mark waits', async () => {
    const { enrolled, hubUid } = await runCache();
    await checkAll();
    await setPhase(hubUid, 'Degraded');
    expect(await checkAll()).toEqual([]);
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: '', ...READY, ready: 0 }]);
  });

  it('tells of counts that are wrong, and puts them right', async () => {
    const { enrolled } = await runCache();
    await checkAll();
    await query('UPDATE member_cluster_rollup SET ready = 7 WHERE member_cluster_id = $1', [enrolled.memberClusterId]);
    await query(
      'INSERT INTO member_cluster_rollup SELECT $1, project_id, version, mode, phase, region, 1, 1, 0, 0, 0 FROM member_cluster_rollup LIMIT 1',
      [randomUUID()],
    );
    await query('UPDATE region_rollup SET total = 5 WHERE project_id = $1', [enrolled.projectId]);
    expect(await checkAll()).toEqual(['error']);
    expect(await ofMemberCluster(enrolled.memberClusterId)).toEqual([{ region: '', ...READY }]);
    expect(await ofRegions(enrolled.projectId)).toEqual([{ region: '', ...READY }]);
    expect(await checkAll()).toEqual([]);
  });

  it('makes the counts of a database that has none yet, and only then says that they are folded', async () => {
    const { enrolled } = await runCache();
    await query('DELETE FROM health_rollup_head');
    await query('DELETE FROM member_cluster_rollup');
    await query('DELETE FROM region_rollup');
    expect(await checkAll()).toEqual(['info']);
    expect(await ofRegions(enrolled.projectId)).toEqual([{ region: '', ...READY }]);
    expect(await query('SELECT one FROM health_rollup_head')).toEqual([{ one: true }]);
  });
});

describe('a revoked and approved agent', () => {
  it('marks its member cluster each time', async () => {
    const { enrolled } = await runCache();
    await query(`UPDATE agent SET state = 'QUARANTINED' WHERE id = $1`, [enrolled.agentId]);
    expect(await foldAll()).toBe(2);
    await approve(hub, enrolled.agentId);
    expect(await foldAll()).toBe(2);
  });
});
