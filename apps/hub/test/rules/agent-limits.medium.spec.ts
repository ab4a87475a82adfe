import { randomUUID } from 'node:crypto';
import { digestOf, type EventItem, type StatusItem } from '#protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_LIMITS } from '../../src/features/agent-link/status/agent-limits.rules.ts';
import { trimEvents } from '../../src/features/agent-link/status/agent-limits.repository.ts';
import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { ApiClient } from '../api-client.ts';
import { enrolAgent, openSession, readDelivery, want, type Enrolled, type Wanted } from '../link-fixture.ts';
import { createApart } from '../raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { TestAgent } from '../test-agent.ts';
import { WAIT } from '../wait.ts';

const AT_ONCE = 250;

const local = (name: string, more: Partial<StatusItem> = {}): StatusItem => ({
  namespace: 'default',
  name,
  uid: randomUUID(),
  kind: 'RedisCluster',
  conditions: [],
  pods: [],
  foreignFields: [],
  ...more,
});
const objects = (prefix: string, count: number, more: Partial<StatusItem> = {}): StatusItem[] =>
  Array.from({ length: count }, (_, at) => local(`${prefix}-${at}`, more));
const event = (message: string): EventItem => ({
  namespace: 'default',
  name: 'cart',
  severity: 'Warning',
  reason: 'Degraded',
  message,
  first: new Date().toISOString(),
  last: new Date().toISOString(),
  count: 1,
});

describe('what one agent may cost', () => {
  let hub: TestHub;
  let other: TestHub;
  beforeAll(async () => {
    const database = await createTestDatabase();
    hub = await startTestHub(database);
    other = await startTestHub(database, { like: hub });
  });
  afterAll(async () => {
    await other.close();
    await hub.close();
  });

  const one = async <T>(sql: string, parameters: unknown[]): Promise<T> =>
    (await hub.runtime.dataSource.query<T[]>(sql, parameters))[0] as T;
  const readLocal = (agentId: string) =>
    one<{ objects: number; bytes: number; counted: number; countedBytes: number }>(
      `SELECT count(*)::int AS objects, coalesce(sum(octet_length(item::text)), 0)::int AS bytes,
         coalesce(max(u.objects), 0)::int AS counted, coalesce(max(u.bytes), 0)::int AS "countedBytes"
       FROM agent AS a LEFT JOIN agent_local_usage AS u ON u.agent_id = a.id LEFT JOIN local_object AS l ON l.agent_id = a.id
       WHERE a.id = $1 AND l.agent_id IS NOT NULL`,
      [agentId],
    );
  const readWaits = async (): Promise<number> => {
    const { values } = await hub.runtime.metrics.overLimit.get();
    return values.find(({ labels }) => labels.limit === 'FRAMES')?.value ?? 0;
  };
  const readNotices = (agentId: string) =>
    hub.runtime.dataSource.query<{ message: string }[]>(
      `SELECT message FROM event WHERE agent_id = $1 AND reason = 'AgentOverLimit' ORDER BY message`,
      [agentId],
    );

  /** Tells all of it in batches, each after the ack of the one before. */
  const tell = async (
    agent: TestAgent,
    items: readonly StatusItem[],
    { from = 0, complete = false, size = AT_ONCE } = {},
  ): Promise<number> => {
    let counter = from;
    for (let at = 0; at < items.length || (at === 0 && complete); at += size) {
      const isLast = at + size >= items.length;
      agent.send('StatusBatch', {
        counter,
        items: items.slice(at, at + size),
        ...(complete && isLast ? { complete: true } : {}),
      });
      expect(await agent.next('StatusAck', 30_000)).toMatchObject({ counter });
      counter += 1;
    }
    return counter;
  };

  const tellManaged = async (
    enrolled: Enrolled,
    agent: TestAgent,
    wanted: Wanted,
    name: string,
    phase: string,
    counter: number,
  ) => {
    agent.send('StatusBatch', {
      counter,
      items: [local(name, { hubUid: wanted.hubUid, phase, observedHubGeneration: 1 })],
    });
    await agent.next('StatusAck');
    const row = await one<{ phase: string }>('SELECT phase FROM resource_status WHERE hub_uid = $1', [wanted.hubUid]);
    expect(row.phase).toBe(phase);
    expect(enrolled.agentId).toBe(agent.identity.agentId);
  };

  it('is 5,000 local objects: what is more is left out, its session goes on, and another agent is not held up', async () => {
    const [hostile, honest] = [await enrolAgent(hub), await enrolAgent(hub)];
    const managed = await want(hub, hostile, 'wanted');
    const own = await want(hub, honest, 'cart');
    const { agent } = await openSession(hub, hostile);
    const { agent: peer } = await openSession(hub, honest);
    const counter = await tell(agent, objects('flood', AGENT_LIMITS.localObjects + 1_000));
    await tellManaged(honest, peer, own, 'cart', 'Ready', 0);
    await tellManaged(hostile, agent, managed, 'wanted', 'Ready', counter);
    expect(await readLocal(hostile.agentId)).toMatchObject({ objects: AGENT_LIMITS.localObjects, counted: 5_000 });
    expect(await hub.runtime.metrics.registry.getSingleMetricAsString('atoll_hub_agent_over_limit_total')).toMatch(
      /limit="LOCAL_OBJECTS"} 1000/,
    );
    await expect.poll(() => readNotices(hostile.agentId), WAIT).toHaveLength(1);
    const admin = await ApiClient.admin(hub);
    const query = `{ node(id: "${encodeGlobalId('Agent', hostile.agentId)}") { ... on Agent { problem { code } } } }`;
    expect((await admin.query(query)).data['node']).toEqual({ problem: { code: 'AGENT_OVER_LIMIT' } });
    await admin.close();
    expect(agent.closeCode).toBeUndefined();

    // Over a new session at another replica: what an earlier one told gives way, and there is never more.
    agent.close();
    await agent.waitForClose();
    const { agent: again } = await openSession(other, hostile);
    const next = await tell(again, objects('other', AGENT_LIMITS.localObjects + 500));
    expect(await readLocal(hostile.agentId)).toMatchObject({ objects: 5_000, counted: 5_000 });
    // What is gone is free again.
    await tell(again, objects('other', 10), { from: next, complete: true });
    again.close();
    await again.waitForClose();
    const { agent: last } = await openSession(hub, hostile);
    await tell(last, objects('other', 10), { complete: true });
    expect(await readLocal(hostile.agentId)).toMatchObject({ objects: 10, counted: 10 });
    last.close();
    peer.close();
  }, 120_000);

  it('is 20 MiB of local objects, counted as they are stored, and 200 KiB of each', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const spec = (bytes: number) => ({ liveSpec: { mode: 'x'.repeat(bytes) } as never });
    const counter = await tell(agent, objects('large', 130, spec(190 * 1_024)), { size: 4 });
    const { bytes, objects: count, countedBytes } = await readLocal(enrolled.agentId);
    expect(bytes).toBeLessThan(AGENT_LIMITS.localBytes * 1.01);
    expect(count).toBeGreaterThan(100);
    expect(countedBytes).toBe(bytes);
    await tell(agent, [local('large-0', spec(400 * 1_024))], { from: counter });
    const row = await one<{ size: number; item: StatusItem }>(
      `SELECT octet_length(item::text) AS size, item FROM local_object WHERE agent_id = $1 AND name = 'large-0'`,
      [enrolled.agentId],
    );
    expect(row.size).toBeLessThan(2_048);
    expect(row.item.conditions.map(({ reason }) => reason)).toEqual(['TooLarge']);
    agent.close();
  }, 60_000);

  it('never cuts an honest agent of 5,000 objects, also when all of them are others after it was away', async () => {
    const enrolled = await enrolAgent(hub);
    for (const [name, spec] of [
      ['before', 'x'],
      ['after', 'y'],
    ] as const) {
      const { agent } = await openSession(hub, enrolled);
      await tell(agent, objects(name, 5_000, { liveSpec: { mode: spec.repeat(2_000) } as never }), { complete: true });
      agent.close();
      await agent.waitForClose();
      const rows = await hub.runtime.dataSource.query<{ count: number }[]>(
        'SELECT count(*)::int AS count FROM local_object WHERE agent_id = $1 AND name LIKE $2',
        [enrolled.agentId, `${name}-%`],
      );
      expect(rows).toEqual([{ count: 5_000 }]);
    }
    expect(await readNotices(enrolled.agentId)).toEqual([]);
  }, 120_000);

  it('is 200 events a minute over its sessions and replicas; what is known already costs nothing', async () => {
    const [hostile, honest] = [await enrolAgent(hub), await enrolAgent(hub)];
    const flood = Array.from({ length: 500 }, (_, at) => event(`flood ${at}`));
    for (const [at, where] of [hub, other, hub].entries()) {
      const { agent } = await openSession(where, hostile);
      agent.send('EventBatch', { counter: 0, items: at === 2 ? flood.slice(0, 200) : flood });
      await agent.next('EventAck');
      agent.close();
      await agent.waitForClose();
    }
    const { agent: peer } = await openSession(hub, honest);
    peer.send('EventBatch', { counter: 0, items: [event('one')] });
    await peer.next('EventAck');
    peer.close();
    const count = (agentId: string) =>
      one<{ count: number }>(`SELECT count(*)::int AS count FROM event WHERE agent_id = $1 AND reason = 'Degraded'`, [
        agentId,
      ]);
    expect(await count(hostile.agentId)).toEqual({ count: AGENT_LIMITS.eventsPerMinute });
    expect(await count(honest.agentId)).toEqual({ count: 1 });
    await expect.poll(() => readNotices(hostile.agentId), WAIT).toHaveLength(1);
  }, 60_000);

  it('keeps the newest of its events, and those of others', async () => {
    const [hostile, honest] = [await enrolAgent(hub), await enrolAgent(hub)];
    const { dataSource } = hub.runtime;
    await dataSource.query('UPDATE agent_event_usage SET untrimmed = 0');
    for (const { agentId } of [hostile, honest]) {
      await dataSource.query(
        `INSERT INTO event (id, at, agent_id, severity, reason, message, first_at, last_at, count)
         SELECT gen_random_uuid(), now() - n * interval '1 second', $1, 'Normal', 'r', n::text, now(), now(), 1
         FROM generate_series(1, 50) AS n`,
        [agentId],
      );
    }
    await dataSource.query(
      `INSERT INTO agent_event_usage (agent_id, minute_at, minute_count, untrimmed) VALUES ($1, now(), 0, 50), ($2, now(), 0, 3)
       ON CONFLICT (agent_id) DO UPDATE SET untrimmed = excluded.untrimmed`,
      [hostile.agentId, honest.agentId],
    );
    const gone = await dataSource.transaction((tx) => trimEvents(tx, createApart('events'), { kept: 20, after: 50 }));
    expect(gone).toBe(30);
    const rows = await dataSource.query<{ agentId: string; count: number; oldest: string }[]>(
      `SELECT agent_id AS "agentId", count(*)::int AS count, max(message::int)::text AS oldest FROM event
       WHERE agent_id = ANY($1::uuid[]) GROUP BY agent_id`,
      [[hostile.agentId, honest.agentId]],
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { agentId: hostile.agentId, count: 20, oldest: '20' },
        { agentId: honest.agentId, count: 50, oldest: '50' },
      ]),
    );
  });

  it('of acks is nothing: a generation that no hub can have made is refused as such, and the others of its ack count', async () => {
    const enrolled = await enrolAgent(hub);
    const [bad, good] = [await want(hub, enrolled, 'bad'), await want(hub, enrolled, 'good')];
    const agent = await TestAgent.connect(hub, enrolled.identity);
    agent.hello();
    const { revision } = await agent.next('SnapshotEnd');
    const outcome = ({ hubUid, specHash }: Wanted, hubGeneration: number) =>
      ({ hubUid, hubGeneration, specHash, state: 'APPLIED' }) as const;
    agent.send('DesiredAck', {
      revision,
      outcomes: [outcome(bad, 2 ** 53 - 1), outcome(good, 1)],
      digest: digestOf([good]),
    });
    await expect.poll(() => readDelivery(hub, good.hubUid), WAIT).toMatchObject({ state: 'APPLIED' });
    expect(await readDelivery(hub, bad.hubUid)).toMatchObject({ state: 'PENDING', applied_generation: null });
    const told = (): Promise<{ message: string }[]> =>
      hub.runtime.dataSource.query('SELECT message FROM event WHERE hub_uid = $1', [bad.hubUid]);
    await expect.poll(told, WAIT).toEqual([{ message: expect.stringContaining('hubGeneration') as string }]);
    expect(agent.closeCode).toBeUndefined();
    agent.close();
  });

  it('of keys is a pace too: a flood of rotations waits, and its session goes on', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const before = await readWaits();
    for (let at = 0; at < 30; at += 1) agent.send('KeyRotation', { newPublicKey: 'x', signature: 'y' });
    await expect.poll(readWaits, WAIT).toBeGreaterThan(before);
    agent.send('StatusBatch', { counter: 0, items: [] });
    expect(await agent.next('StatusAck', 20_000)).toMatchObject({ counter: 0 });
    expect(agent.closeCode).toBeUndefined();
    agent.close();
  }, 60_000);

  it.each(['Whatever', 'Heartbeat'])(
    'is a pace of bytes: a flood of large frames of type %s waits unread, and its session goes on',
    async (type) => {
      const { agent } = await openSession(hub, await enrolAgent(hub));
      const before = await readWaits();
      const junk = 'x'.repeat(500_000);
      for (let at = 0; at < 52; at += 1) agent.send(type as 'Heartbeat', { inventory: 'SYNCED', junk } as never);
      agent.send('StatusBatch', { counter: 0, items: [] });
      await expect.poll(readWaits, WAIT).toBeGreaterThan(before);
      expect(await agent.next('StatusAck', 20_000)).toMatchObject({ counter: 0 });
      expect(agent.closeCode).toBeUndefined();
      agent.close();
    },
    60_000,
  );

  it('is a pace of frames: a flood of heartbeats waits, its session goes on, and another agent is heard', async () => {
    const [hostile, honest] = [await enrolAgent(hub), await enrolAgent(hub)];
    const own = await want(hub, honest, 'paced');
    const { agent } = await openSession(hub, hostile);
    const { agent: peer } = await openSession(hub, honest);
    for (let beat = 0; beat < 1_500; beat += 1) agent.send('Heartbeat', { inventory: 'SYNCED' });
    agent.send('StatusBatch', { counter: 0, items: [] });
    await tellManaged(honest, peer, own, 'paced', 'Ready', 0);
    expect(agent.pending('StatusAck')).toBe(0);
    expect(await agent.next('StatusAck', 20_000)).toMatchObject({ counter: 0 });
    expect(agent.closeCode).toBeUndefined();
    expect(await readWaits()).toBeGreaterThan(100);
    agent.close();
    peer.close();
  }, 60_000);
});
