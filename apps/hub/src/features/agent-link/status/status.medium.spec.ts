import { digestOf, EMPTY_DIGEST, MAX_FRAME_BYTES, type StatusItem } from '#protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import {
  type Enrolled,
  enrolAgent,
  openSession,
  readDelivery,
  want,
  type Wanted,
} from '../../../../test/link-fixture.ts';
import { raiseFor } from '../../../../test/raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { createIdentity, TestAgent } from '../../../../test/test-agent.ts';
import { WAIT } from '../../../../test/wait.ts';
import { LINK_PARTS, type LinkParts } from '../connections/link-parts.ts';
import { EventRepository } from './event.repository.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

const itemOf = (wanted: Wanted | undefined, name: string, rest: Partial<StatusItem> = {}): StatusItem => ({
  ...(wanted ? { hubUid: wanted.hubUid, observedHubGeneration: wanted.hubGeneration } : {}),
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  kind: 'RedisCluster',
  conditions: [],
  pods: [],
  foreignFields: [],
  ...rest,
});

/** An object that the agent has applied. */
async function applied(enrolled: Enrolled, agent: TestAgent, name: string): Promise<Wanted> {
  const wanted = await want(hub, enrolled, name, { mode: 'Sentinel', engine: { version: '8.0' } });
  const { revision } = await agent.next('Delta');
  agent.send('DesiredAck', { revision, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
  await vi.waitFor(
    async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
    WAIT,
  );
  return wanted;
}

const query = async <T>(sql: string, parameters: unknown[]): Promise<T[]> =>
  hub.runtime.dataSource.query<T[]>(sql, parameters);

interface StatusRow {
  readonly phase: string;
  readonly counter: number;
  readonly session_no: number;
}
const readStatus = async (hubUid: string): Promise<StatusRow | undefined> =>
  (await query<StatusRow>('SELECT phase, counter, session_no FROM resource_status WHERE hub_uid = $1', [hubUid]))[0];

describe('status', () => {
  it('is acked after it is stored, counted, and told to subscribers', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent, welcome } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'cache');
    const ready = itemOf(wanted, 'cache', {
      phase: 'Ready',
      mode: 'Sentinel',
      engineVersion: '8.0.1',
      numbers: { keys: 3 },
    });
    agent.send('StatusBatch', { counter: 0, items: [ready] });
    expect(await agent.next('StatusAck')).toEqual({ counter: 0 });
    expect(await readStatus(wanted.hubUid)).toEqual({ phase: 'Ready', counter: 0, session_no: welcome.sessionNo });
    const counts = await query(
      'SELECT mode, version, phase, count FROM agent_rollup WHERE agent_id = $1 AND count > 0',
      [enrolled.agentId],
    );
    expect(counts).toEqual([{ mode: 'Sentinel', version: '8.0.1', phase: 'Ready', count: 1 }]);
    const changes = await query(`SELECT kind FROM change_log WHERE subject = $1`, [wanted.hubUid]);
    expect(changes.length).toBeGreaterThanOrEqual(2);
    agent.close();
  });

  it('in frames above what is allowed is read one after the other, and the agent is told to slow down', async () => {
    const { agent } = await openSession(hub, await enrolAgent(hub));
    for (const counter of [0, 1]) {
      const liveSpec = { config: { text: 'y'.repeat(MAX_FRAME_BYTES) } } as never;
      agent.send('StatusBatch', { counter, items: [itemOf(undefined, `large-${counter}`, { liveSpec })] });
    }
    const { pauseMs } = await agent.next('Slow');
    expect(pauseMs).toBeGreaterThan(0);
    expect(await agent.next('StatusAck')).toEqual({ counter: 0 });
    expect(agent.closeCode).toBeUndefined();
    agent.close();
  });

  it('is ordered by session and counter, not by arrival', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'ordered');
    agent.send('StatusBatch', { counter: 5, items: [itemOf(wanted, 'ordered', { phase: 'Ready' })] });
    await agent.next('StatusAck');
    agent.send('StatusBatch', { counter: 4, items: [itemOf(wanted, 'ordered', { phase: 'Creating' })] });
    await agent.next('StatusAck');
    expect(await readStatus(wanted.hubUid)).toMatchObject({ phase: 'Ready', counter: 5 });
    agent.close();
    const hello = { hubEpoch: hub.runtime.identity.hubEpoch, appliedRevision: 1, specDigest: digestOf([wanted]) };
    const next = await openSession(hub, enrolled, hello);
    next.agent.send('StatusBatch', { counter: 0, items: [itemOf(wanted, 'ordered', { phase: 'Updating' })] });
    await next.agent.next('StatusAck');
    expect(await readStatus(wanted.hubUid)).toMatchObject({ phase: 'Updating', counter: 0 });
    next.agent.close();
  });

  it('of objects no hub wants is kept apart, and forgotten after a full resend without it', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    agent.send('StatusBatch', { counter: 0, items: [itemOf(undefined, 'hand-made')], complete: true });
    await agent.next('StatusAck');
    const names = (): Promise<{ name: string }[]> =>
      query('SELECT name FROM local_object WHERE agent_id = $1', [enrolled.agentId]);
    expect(await names()).toEqual([{ name: 'hand-made' }]);
    agent.close();
    const next = await openSession(hub, enrolled);
    next.agent.send('StatusBatch', { counter: 0, items: [itemOf(undefined, 'other')], complete: true });
    await next.agent.next('StatusAck');
    expect(await names()).toEqual([{ name: 'other' }]);
    next.agent.close();
  });

  it('gone means DELETED_LOCALLY, and nothing is created again', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'vanishes');
    agent.send('StatusBatch', {
      counter: 0,
      items: [itemOf(wanted, 'vanishes', { gone: true })],
      inventory: 'UNKNOWN',
    });
    await agent.next('StatusAck');
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' });
    agent.send('StatusBatch', { counter: 1, items: [itemOf(wanted, 'vanishes', { gone: true })] });
    await agent.next('StatusAck');
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({
      state: 'DELETED_LOCALLY',
      applied_generation: null,
    });
    agent.close();
    const hello = { hubEpoch: hub.runtime.identity.hubEpoch, appliedRevision: 1, specDigest: EMPTY_DIGEST };
    const next = await openSession(hub, enrolled, hello);
    expect(next.welcome.mode).toBe('DELTA');
    await expect(next.agent.next('Delta', 300)).rejects.toThrow('no Delta');
    next.agent.close();
  });

  it('of a batch that cannot be stored holds up nobody', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'clean');
    agent.send('StatusBatch', { counter: 0, items: [itemOf(wanted, 'clean', { size: 2 ** 40 })] });
    agent.send('StatusBatch', { counter: 1, items: [itemOf(wanted, 'clean', { phase: 'Ready' })] });
    await agent.next('StatusAck');
    await agent.next('StatusAck');
    expect(await readStatus(wanted.hubUid)).toMatchObject({ phase: 'Ready', counter: 1 });
    agent.close();
  });

  it('of one object that cannot be stored leaves the others of its batch', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const bad = await applied(enrolled, agent, 'bad');
    const good = await applied(enrolled, agent, 'good');
    const end = await raiseFor(hub.runtime.dataSource, {
      table: 'resource_status',
      on: 'INSERT OR UPDATE',
      when: `NEW.hub_uid = '${bad.hubUid}'`,
      sqlstate: '22003',
    });
    agent.send('StatusBatch', {
      counter: 0,
      items: [
        itemOf(bad, 'bad', { phase: 'Ready' }),
        itemOf(good, 'good', { phase: 'Ready' }),
        itemOf(undefined, 'hand-made'),
      ],
    });
    expect(await agent.next('StatusAck')).toEqual({ counter: 0 });
    expect(await readStatus(good.hubUid)).toMatchObject({ phase: 'Ready', counter: 0 });
    expect((await readStatus(bad.hubUid))?.phase).not.toBe('Ready');
    expect(await query('SELECT name FROM local_object WHERE agent_id = $1', [enrolled.agentId])).toEqual([
      { name: 'hand-made' },
    ]);
    await end();
    agent.close();
  });

  it('is folded for dashboards, and so is what becomes of its agent', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'folded');
    agent.send('StatusBatch', { counter: 0, items: [itemOf(wanted, 'folded', { phase: 'Ready', mode: 'Sentinel' })] });
    await agent.next('StatusAck');
    const read = (): Promise<unknown[]> =>
      query(`SELECT total, ready, unknown FROM member_cluster_rollup WHERE member_cluster_id = $1`, [
        enrolled.memberClusterId,
      ]);
    await vi.waitFor(async () => expect(await read()).toEqual([{ total: 1, ready: 1, unknown: 0 }]), WAIT);
    // What was heard of the agent and is not written yet would be newer than this.
    await hub.app.get<LinkParts>(LINK_PARTS, { strict: false }).seen.flush();
    await query(`UPDATE agent_seen SET verdict = 'UNKNOWN', seen_at = now() - interval '1 hour' WHERE agent_id = $1`, [
      enrolled.agentId,
    ]);
    await vi.waitFor(async () => expect(await read()).toEqual([{ total: 1, ready: 0, unknown: 1 }]), WAIT);
    agent.close();
  });
});

describe('events', () => {
  it('are stored with the object they are about, and acked', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'eventful');
    const now = new Date().toISOString();
    const about = { hubUid: wanted.hubUid, namespace: 'default', name: 'eventful', first: now, last: now, count: 2 };
    agent.send('EventBatch', {
      counter: 0,
      items: [{ ...about, severity: 'Warning', reason: 'NoQuorum', message: 'text' }],
    });
    expect(await agent.next('EventAck')).toEqual({ counter: 0 });
    expect(await query('SELECT reason, count, project_id FROM event WHERE hub_uid = $1', [wanted.hubUid])).toEqual([
      { reason: 'NoQuorum', count: 2, project_id: enrolled.projectId },
    ]);
    agent.close();
  });

  it('are stored once, though the ack was lost and they come again in another session', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'repeated');
    const hello = { hubEpoch: hub.runtime.identity.hubEpoch, appliedRevision: 1, specDigest: digestOf([wanted]) };
    const event = (reason: string, count: number, last: string) => ({
      hubUid: wanted.hubUid,
      namespace: 'default',
      name: 'repeated',
      severity: 'Warning' as const,
      reason,
      message: 'text',
      first: '2026-11-30T10:00:00.000Z',
      last,
      count,
    });
    const early = '2026-11-30T10:00:00.000Z';
    const batch = { counter: 0, items: [event('Degraded', 1, early), event('Repaired', 1, early)] };
    const read = (): Promise<unknown[]> =>
      query('SELECT reason, count, last_at FROM event WHERE hub_uid = $1 ORDER BY at', [wanted.hubUid]);
    agent.send('EventBatch', batch);
    await agent.next('EventAck');
    agent.close();
    const stored = await read();
    expect(stored).toMatchObject([{ reason: 'Degraded' }, { reason: 'Repaired' }]);

    const second = await openSession(hub, enrolled, hello);
    second.agent.send('EventBatch', batch);
    await second.agent.next('EventAck');
    expect(await read()).toEqual(stored);
    // The same once more, and one of them has happened again.
    const later = '2026-11-30T10:05:00.000Z';
    second.agent.send('EventBatch', { counter: 1, items: [...batch.items, event('Degraded', 2, later)] });
    await second.agent.next('EventAck');
    expect(await read()).toEqual([
      { reason: 'Repaired', count: 1, last_at: new Date(early) },
      { reason: 'Degraded', count: 2, last_at: new Date(later) },
    ]);
    second.agent.close();
  });

  it('of a session that was taken over are not stored', async () => {
    const enrolled = await enrolAgent(hub);
    const now = new Date().toISOString();
    const item = { namespace: 'default', name: 'x', severity: 'Normal', reason: 'R', message: 'm' } as const;
    const items = [{ ...item, first: now, last: now, count: 1 }];
    const repository = new EventRepository(hub.runtime.dataSource);
    const count = async (): Promise<number> =>
      (await query('SELECT 1 FROM event WHERE agent_id = $1', [enrolled.agentId])).length;
    await repository.store([{ session: { agentId: enrolled.agentId, sessionNo: 7 }, items }]);
    expect(await count()).toBe(0);
    await repository.store([{ session: { agentId: enrolled.agentId, sessionNo: 0 }, items }]);
    expect(await count()).toBe(1);
  });

  it('with text, counts and times that Postgres cannot hold are stored as well as they can be', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'odd');
    const about = {
      hubUid: wanted.hubUid,
      namespace: 'default',
      name: 'odd',
      severity: 'Warning',
      reason: 'Odd',
    } as const;
    agent.send('EventBatch', {
      counter: 0,
      items: [
        {
          ...about,
          message: 'a\0b',
          first: '+275760-09-13T00:00:00Z',
          last: '-271821-04-20T00:00:00Z',
          count: 2 ** 40,
        },
      ],
    });
    expect(await agent.next('EventAck')).toEqual({ counter: 0 });
    expect(await query('SELECT message, count FROM event WHERE hub_uid = $1', [wanted.hubUid])).toEqual([
      { message: 'a\ufffdb', count: 2 ** 31 - 1 },
    ]);
    agent.close();
  });
});

describe('what an agent of before sends and no hub can read', () => {
  const LONG = 'x'.repeat(600);
  const events = (agentId: string): Promise<unknown[]> =>
    query('SELECT reason, message, hub_uid FROM event WHERE agent_id = $1 ORDER BY message', [agentId]);

  it('costs one object its field: the others of the batch are stored, the session goes on, a person is told', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'plain');
    const strange = itemOf(undefined, 'strange', { phase: 'Ready', hubUid: LONG });
    const nameless = itemOf(wanted, 'plain', { uid: LONG });
    agent.send('StatusBatch', {
      counter: 0,
      items: [strange, itemOf(wanted, 'plain', { phase: 'Degraded' }), nameless],
    });
    expect(await agent.next('StatusAck')).toEqual({ counter: 0 });
    expect(await readStatus(wanted.hubUid)).toMatchObject({ phase: 'Degraded' });
    expect(await query('SELECT name FROM local_object WHERE agent_id = $1', [enrolled.agentId])).toEqual([
      { name: 'strange' },
    ]);
    await vi.waitFor(async () => expect(await events(enrolled.agentId)).toHaveLength(2), WAIT);
    expect(await events(enrolled.agentId)).toMatchObject([
      { reason: 'Unreadable', message: expect.stringContaining('default/plain (uid); it is left out') as string },
      { reason: 'Unreadable', message: expect.stringContaining('default/strange (hubUid); it is shown') as string },
    ]);
    // Told again in this session it is no news; the session is the same one.
    agent.send('StatusBatch', { counter: 1, items: [strange] });
    expect(await agent.next('StatusAck')).toEqual({ counter: 1 });
    expect(await events(enrolled.agentId)).toHaveLength(2);
    expect(agent.closeCode).toBeUndefined();
    agent.close();
  });

  it('larger than a frame is read without its spec', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await applied(enrolled, agent, 'large');
    const liveSpec = { mode: 'Standalone', config: { a: 'y'.repeat(1_400_000) } } as never;
    agent.send('StatusBatch', { counter: 0, items: [itemOf(wanted, 'large', { phase: 'Ready', liveSpec })] });
    expect(await agent.next('StatusAck')).toEqual({ counter: 0 });
    expect(
      await query('SELECT phase, live_spec, conditions FROM resource_status WHERE hub_uid = $1', [wanted.hubUid]),
    ).toMatchObject([{ phase: 'Ready', live_spec: null, conditions: [{ type: 'ToldInPart', reason: 'Unreadable' }] }]);
    agent.close();
  });

  it('when it is no list of objects ends the session, and the agent comes back after a minute, not at once', async () => {
    const { agent } = await openSession(hub, await enrolAgent(hub));
    agent.send('StatusBatch', { counter: -1, items: [] });
    expect(await agent.next('Reconnect')).toEqual({ afterMs: 60_000 });
    expect(await agent.waitForClose()).toBe(4003);
  });

  it('and from a stranger it is not even kept in memory: more than a megabyte before Hello ends the connection', async () => {
    const stranger = await TestAgent.connect(hub, createIdentity());
    stranger.send('EventBatch', { counter: 0, items: [], text: 'z'.repeat(2 ** 20) } as never);
    expect(await stranger.waitForClose()).toBe(1006);
  });
});
