/**
 * Status resumed by digest: when the hub may say that nothing need be sent again, and when it must not. A wrong yes would
 * leave a stale status for ever.
 */
import { randomUUID } from 'node:crypto';
import { digestOf, EMPTY_DIGEST, itemHash, type StatusBatch, statusDigestOf, type StatusItem } from '#protocol';
import type { DataSource, EntityManager } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import {
  type Enrolled,
  enrolAgent,
  openSession,
  readDelivery,
  want,
  type Wanted,
} from '../../../../test/link-fixture.ts';
import { recordStatements } from '../../../../test/record-statements.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import type { TestAgent } from '../../../../test/test-agent.ts';
import { systemClock } from '../../../platform/lifecycle/time-and-ids.ts';
import { SessionRepository } from '../sessions/session.repository.ts';
import { REPORTED_AT } from './reported-at.ts';
import { StatusRepository } from './status.repository.ts';
import { WAIT } from '../../../../test/wait.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

const query = <T>(sql: string, parameters: unknown[]): Promise<T[]> =>
  hub.runtime.dataSource.query<T[]>(sql, parameters);

function itemOf(wanted: Wanted | undefined, name: string, rest: Partial<StatusItem> = {}): StatusItem {
  const item: StatusItem = {
    ...(wanted ? { hubUid: wanted.hubUid, observedHubGeneration: wanted.hubGeneration } : {}),
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    kind: 'RedisCluster',
    phase: 'Ready',
    conditions: [],
    pods: [],
    foreignFields: [],
    ...rest,
  };
  return { ...item, hash: itemHash(item) };
}

/** An agent in its first session, with objects that it has applied. */
async function startAgent(...names: string[]): Promise<{ enrolled: Enrolled; agent: TestAgent; wanted: Wanted[] }> {
  const enrolled = await enrolAgent(hub);
  const { agent } = await openSession(hub, enrolled);
  const wanted: Wanted[] = [];
  for (const name of names) {
    wanted.push(await want(hub, enrolled, name));
    const { revision } = await agent.next('Delta');
    const outcomes = wanted.map((one) => ({ ...one, state: 'APPLIED' as const }));
    agent.send('DesiredAck', { revision, outcomes, digest: digestOf(wanted) });
  }
  for (const { hubUid } of wanted) {
    await vi.waitFor(async () => expect(await readDelivery(hub, hubUid)).toMatchObject({ state: 'APPLIED' }), WAIT);
  }
  return { enrolled, agent, wanted };
}

async function tell(agent: TestAgent, batch: StatusBatch): Promise<{ counter: number; inSync?: boolean }> {
  agent.send('StatusBatch', batch);
  return agent.next('StatusAck');
}

const reconnect = (enrolled: Enrolled, wanted: readonly Wanted[]): Promise<{ agent: TestAgent }> =>
  openSession(hub, enrolled, {
    hubEpoch: hub.runtime.identity.hubEpoch,
    appliedRevision: wanted.length,
    specDigest: digestOf(wanted),
  });

const proof = (items: readonly StatusItem[]): StatusBatch => ({
  counter: 0,
  items: [],
  statusDigest: statusDigestOf(items.map(({ hash = '' }) => hash)),
});

/** What the agent proves in its next session, and whether the hub says that it has stored just that. */
async function resume(enrolled: Enrolled, wanted: readonly Wanted[], items: readonly StatusItem[]): Promise<boolean> {
  const { agent } = await reconnect(enrolled, wanted);
  const ack = await tell(agent, proof(items));
  agent.close();
  return ack.inSync === true;
}

describe('status resumed by digest', () => {
  it('is in sync when all of it is stored, wanted and local, without a row being written', async () => {
    const { enrolled, agent, wanted } = await startAgent('a', 'b');
    const items = [itemOf(wanted[0], 'a'), itemOf(wanted[1], 'b'), itemOf(undefined, 'local')];
    await tell(agent, { counter: 0, items, complete: true });
    agent.close();
    const read = (): Promise<unknown[]> =>
      query(
        `SELECT s.xmin, s.session_no, s.received_at FROM resource_status s JOIN resource r USING (hub_uid)
         WHERE r.agent_id = $1 ORDER BY hub_uid`,
        [enrolled.agentId],
      );
    const before = await read();
    expect(await resume(enrolled, wanted, items)).toBe(true);
    expect(await read()).toEqual(before);
    const [head] = await query<{ session_no: number; counter: number; confirmed_at: Date | null }>(
      'SELECT session_no, counter, confirmed_at FROM agent_status_head WHERE agent_id = $1',
      [enrolled.agentId],
    );
    expect(head).toMatchObject({ session_no: 2, counter: 0, confirmed_at: expect.any(Date) as Date });
  });

  it('takes what changes after the proof, in the order of the new session', async () => {
    const { enrolled, agent, wanted } = await startAgent('a');
    const items = [itemOf(wanted[0], 'a')];
    await tell(agent, { counter: 0, items, complete: true });
    agent.close();
    const next = await reconnect(enrolled, wanted);
    next.agent.send('StatusBatch', proof(items));
    next.agent.send('StatusBatch', { counter: 1, items: [itemOf(wanted[0], 'a', { phase: 'Degraded' })] });
    // Both wait for one commit: the digest is compared with what was stored before it.
    expect(await next.agent.next('StatusAck')).toEqual({ counter: 0, inSync: true });
    expect(await next.agent.next('StatusAck')).toEqual({ counter: 1 });
    expect(
      await query('SELECT phase, session_no, counter FROM resource_status WHERE hub_uid = $1', [wanted[0]?.hubUid]),
    ).toEqual([{ phase: 'Degraded', session_no: 2, counter: 1 }]);
    next.agent.close();
  });

  it.each<[string, (items: readonly StatusItem[], wanted: readonly Wanted[]) => StatusItem[]]>([
    ['a state changed', ([, ...rest], [a]) => [itemOf(a, 'a', { phase: 'Degraded' }), ...rest]],
    ['a detail changed', ([, ...rest], [a]) => [itemOf(a, 'a', { details: { capabilities: ['x'] } }), ...rest]],
    ['an object went', (items) => items.slice(1)],
    ['a local object went', (items) => items.slice(0, 1)],
    ['an object came', (items) => [...items, itemOf(undefined, 'new')]],
    ['nothing is left', () => []],
  ])('is not in sync when %s', async (_, change) => {
    const { enrolled, agent, wanted } = await startAgent('a');
    const items = [itemOf(wanted[0], 'a'), itemOf(undefined, 'local')];
    await tell(agent, { counter: 0, items, complete: true });
    agent.close();
    expect(await resume(enrolled, wanted, change(items, wanted))).toBe(false);
    expect(await resume(enrolled, wanted, items)).toBe(true);
  });

  it('is in sync with nothing, of an agent that holds nothing', async () => {
    const { enrolled, agent } = await startAgent();
    agent.close();
    expect(await resume(enrolled, [], [])).toBe(true);
    expect(await resume(enrolled, [], [itemOf(undefined, 'x')])).toBe(false);
  });

  it('does not count what is gone, and takes up what comes back', async () => {
    const { enrolled, agent, wanted } = await startAgent('a');
    const { hash: _, ...gone } = itemOf(wanted[0], 'a', { gone: true });
    await tell(agent, { counter: 0, items: [itemOf(wanted[0], 'a')], complete: true });
    await tell(agent, { counter: 1, items: [gone] });
    agent.close();
    expect(await resume(enrolled, [], [])).toBe(true);
    expect(await resume(enrolled, [], [itemOf(wanted[0], 'a')])).toBe(false);
  });

  it('settles after one full resend when an object went while nobody listened; that one keeps its age', async () => {
    const { enrolled, agent, wanted } = await startAgent('a', 'b');
    await tell(agent, { counter: 0, items: [itemOf(wanted[0], 'a'), itemOf(wanted[1], 'b')], complete: true });
    agent.close();
    const left = [itemOf(wanted[1], 'b')];
    const next = await reconnect(enrolled, wanted);
    expect(await tell(next.agent, proof(left))).toEqual({ counter: 0 });
    await tell(next.agent, { counter: 1, items: left, complete: true });
    next.agent.close();
    expect(await resume(enrolled, wanted, left)).toBe(true);
    // Seen no more, never judged gone by that, and not made younger by the proof of the others, which are.
    const ages = await query<{ isYounger: boolean }>(
      `SELECT ${REPORTED_AT} > s.received_at AS "isYounger" FROM resource_status AS s
       JOIN resource AS r ON r.hub_uid = s.hub_uid JOIN agent_status_head AS head ON head.agent_id = r.agent_id
       WHERE r.agent_id = $1 ORDER BY r.name`,
      [enrolled.agentId],
    );
    expect(ages.map(({ isYounger }) => isYounger)).toEqual([false, true]);
    expect(await readDelivery(hub, wanted[0]?.hubUid ?? '')).toMatchObject({ state: 'APPLIED' });
    const rows = await query<{ phase: string; gone: boolean; status_hash: string }>(
      'SELECT phase, gone, status_hash FROM resource_status WHERE hub_uid = $1',
      [wanted[0]?.hubUid],
    );
    expect(rows).toEqual([{ phase: 'Ready', gone: false, status_hash: EMPTY_DIGEST }]);
  });

  it('knows nothing of an agent that tells no hashes, nor after a replica of before has written', async () => {
    const { enrolled, agent, wanted } = await startAgent('a');
    const item = itemOf(wanted[0], 'a');
    const { hash: _, ...bare } = item;
    await tell(agent, { counter: 0, items: [bare], complete: true });
    agent.close();
    expect(await resume(enrolled, wanted, [item])).toBe(false);
    expect(await resume(enrolled, wanted, [])).toBe(false);
    const next = await reconnect(enrolled, wanted);
    await tell(next.agent, { counter: 0, items: [item], complete: true });
    next.agent.close();
    expect(await resume(enrolled, wanted, [item])).toBe(true);
    await query(`UPDATE resource_status SET phase = 'Degraded', status_hash = $2 WHERE hub_uid = $1`, [
      wanted[0]?.hubUid,
      'f'.repeat(64),
    ]);
    expect(await resume(enrolled, wanted, [item])).toBe(false);
  });

  it("keeps an object that carries another agent's hubUid apart, and a copy under another name too", async () => {
    const other = await startAgent('elsewhere');
    const { enrolled, agent, wanted } = await startAgent('a');
    const items = [
      itemOf(wanted[0], 'a'),
      itemOf(wanted[0], 'copy', { phase: 'Creating' }),
      itemOf(other.wanted[0], 'elsewhere'),
      itemOf({ hubUid: randomUUID(), hubGeneration: 1, specHash: '' }, 'unclaimed', { unclaimed: true }),
    ];
    await tell(agent, { counter: 0, items, complete: true });
    agent.close();
    expect(await resume(enrolled, wanted, items)).toBe(true);
    expect(await query('SELECT phase FROM resource_status WHERE hub_uid = $1', [wanted[0]?.hubUid])).toEqual([
      { phase: 'Ready' },
    ]);
    other.agent.close();
  });

  it('is not in sync when the hub has come to want an object that it keeps as a local one', async () => {
    const { enrolled, agent, wanted } = await startAgent('a');
    const early = { hubUid: randomUUID(), hubGeneration: 1, specHash: '' };
    const items = [itemOf(wanted[0], 'a'), itemOf(early, 'b')];
    await tell(agent, { counter: 0, items, complete: true });
    agent.close();
    expect(await resume(enrolled, wanted, items)).toBe(true);
    const later = await want(hub, enrolled, 'b');
    await query('UPDATE local_object SET hub_uid_claimed = $2 WHERE agent_id = $1', [enrolled.agentId, later.hubUid]);
    expect(await resume(enrolled, wanted, items)).toBe(false);
  });

  it('answers all agents that wait with one query, and no more statements for more of them', async () => {
    const agents = await Promise.all(Array.from({ length: 6 }, () => startAgent()));
    const entries = await Promise.all(
      agents.map(async ({ enrolled, agent }, at) => {
        const item = itemOf(undefined, 'x');
        await tell(agent, { counter: 0, items: [item], complete: true });
        agent.close();
        const { agent: next } = await reconnect(enrolled, []);
        next.close();
        // Every third one holds something else.
        return { session: { agentId: enrolled.agentId, sessionNo: 2 }, batch: proof(at % 3 === 0 ? [] : [item]) };
      }),
    );
    const { dataSource, sql } = recordStatements(hub.runtime.dataSource);
    const { inSync, fenced } = await new StatusRepository(dataSource, systemClock).commit(entries);
    expect([...inSync].sort()).toEqual(
      agents.flatMap(({ enrolled }, at) => (at % 3 === 0 ? [] : [enrolled.agentId])).sort(),
    );
    expect([fenced.size, sql.length]).toEqual([0, 3]);
  });

  it('is compared only after what an older session still had on its way', async () => {
    const { enrolled, agent, wanted } = await startAgent('a');
    const item = itemOf(wanted[0], 'a');
    await tell(agent, { counter: 0, items: [item], complete: true });
    agent.close();
    const next = await reconnect(enrolled, wanted);
    const { dataSource } = hub.runtime;
    const late = {
      session: { agentId: enrolled.agentId, sessionNo: 1 },
      batch: { counter: 1, items: [itemOf(wanted[0], 'a', { phase: 'Degraded' })] },
    };
    // The older session has been found valid and has its lock, when the newer one asks.
    const { promise: written, resolve: goOn } = Promise.withResolvers<void>();
    // Nor is the newer one taken for fenced by the poll while the row shows the older.
    vi.spyOn(hub.app.get(SessionRepository), 'findFencedOrBehind').mockResolvedValue(new Map());
    await query('UPDATE agent_session SET session_no = 1 WHERE agent_id = $1', [enrolled.agentId]);
    const holding = {
      transaction: <T>(work: (tx: EntityManager) => Promise<T>) =>
        dataSource.transaction(async (tx) => {
          const result = await work(tx);
          await written;
          return result;
        }),
    } as unknown as DataSource;
    const older = new StatusRepository(holding, systemClock).commit([late]);
    await vi.waitFor(async () => {
      const waiting = await query<{ n: number }>(
        `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%change_log%'`,
        [],
      );
      expect(waiting[0]?.n).toBeGreaterThan(0);
    }, WAIT);
    await query('UPDATE agent_session SET session_no = 2 WHERE agent_id = $1', [enrolled.agentId]);
    vi.restoreAllMocks();
    next.agent.send('StatusBatch', proof([item]));
    await expect(next.agent.next('StatusAck', 300)).rejects.toThrow('no StatusAck');
    goOn();
    expect((await older).fenced.size).toBe(0);
    expect(await next.agent.next('StatusAck')).toEqual({ counter: 0 });
    // And what comes from it later is refused.
    expect((await new StatusRepository(dataSource, systemClock).commit([late])).fenced.size).toBe(1);
    next.agent.close();
  });
});

describe('a commit of status', () => {
  it('costs the same few statements for one agent as for many, and none for what did not change', async () => {
    const agents = await Promise.all(Array.from({ length: 4 }, () => startAgent('a')));
    for (const { agent } of agents) agent.close();
    const { dataSource, sql } = recordStatements(hub.runtime.dataSource);
    const repository = new StatusRepository(dataSource, systemClock);
    let counter = 0;
    const countOf = async (some: typeof agents, rest: Partial<StatusItem>): Promise<number> => {
      counter += 1;
      sql.length = 0;
      const entries = some.map(({ enrolled, wanted }) => ({
        session: { agentId: enrolled.agentId, sessionNo: 1 },
        batch: { counter, items: [itemOf(wanted[0], 'a', rest)] },
      }));
      expect((await repository.commit(entries)).fenced.size).toBe(0);
      return sql.length;
    };
    await countOf(agents, {});
    // Head, look-up, rows, change log; the roll-up only when it is counted under another key.
    expect(await countOf(agents, { phase: 'Degraded' })).toBe(5);
    expect(await countOf(agents, { phase: 'Degraded', readyPods: 2 })).toBe(4);
    expect(await countOf(agents.slice(0, 1), { phase: 'Degraded', readyPods: 1 })).toBe(4);
    expect(await countOf(agents.slice(0, 1), { phase: 'Degraded', readyPods: 1, numbers: { keys: 7 } })).toBe(3);
  });

  it('tells subscribers of details too, and not of numbers', async () => {
    const { agent, wanted } = await startAgent('a');
    const changes = async (): Promise<number> =>
      (await query('SELECT 1 FROM change_log WHERE subject = $1', [wanted[0]?.hubUid])).length;
    await tell(agent, { counter: 0, items: [itemOf(wanted[0], 'a')] });
    const before = await changes();
    await tell(agent, { counter: 1, items: [itemOf(wanted[0], 'a', { numbers: { keys: 7 } })] });
    expect(await changes()).toBe(before);
    await tell(agent, { counter: 2, items: [itemOf(wanted[0], 'a', { details: { capabilities: ['x'] } })] });
    expect(await changes()).toBe(before + 1);
    agent.close();
  });
});

it('status that the database lost after its ack is asked for again', async () => {
  const { enrolled, agent, wanted } = await startAgent('a');
  await tell(agent, { counter: 0, items: [itemOf(wanted[0], 'a')], complete: true });
  await tell(agent, { counter: 1, items: [itemOf(wanted[0], 'a', { phase: 'Degraded' })] });
  await query('UPDATE agent_status_head SET counter = 0 WHERE agent_id = $1', [enrolled.agentId]);
  await tell(agent, { counter: 2, items: [] });
  await agent.next('StatusResync');
  await tell(agent, { counter: 3, items: [] });
  await expect(agent.next('StatusResync', 300)).rejects.toThrow('no StatusResync');
  agent.close();
});
