import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { StatusItem } from '#protocol';

import { type Enrolled, enrolAgent, openSession, want, type Wanted } from '../link-fixture.ts';
import type { TestAgent } from '../test-agent.ts';
import { settle } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';
import { WAIT } from '../wait.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

const itemOf = ({ hubUid }: Wanted, phase: string, name = 'cache'): StatusItem => ({
  hubUid,
  observedHubGeneration: 1,
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  kind: 'RedisCluster',
  phase,
  conditions: [],
  pods: [],
  foreignFields: [],
});

/** An agent with one object, which says only what the test says. */
async function begin(): Promise<{ readonly agent: TestAgent; readonly wanted: Wanted; readonly enrolled: Enrolled }> {
  const enrolled = await enrolAgent(world.hub);
  const { agent } = await openSession(world.hub, enrolled);
  const wanted = await want(world.hub, enrolled, 'cache');
  await agent.next('Delta');
  return { agent, wanted, enrolled };
}

const MEBIBYTE = 1024 * 1024;

describe('rule 12, backpressure', () => {
  it('one Delta in flight: on a slow link ten changes are merged into a few writes', async () => {
    const member = await world.addMember();
    let wanted = await world.deliver(member, 'cache');
    const before = member.writes().length;
    member.proxy.delay(250);
    for (let size = 1; size <= 10; size += 1) wanted = await world.revise(member, wanted, { mode: 'Standalone', size });
    await world.untilDelivery(wanted, 'APPLIED');
    member.proxy.delay(0);
    await world.untilInSync(member);
    expect((await member.find('cache'))?.spec).toMatchObject({ size: 10 });
    expect(member.writes().length - before).toBeLessThanOrEqual(4);
  });

  it('status is coalesced by the agent: of many changes at once few are told, the last one among them', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await world.until(true, async () => (await world.status(wanted)) !== undefined);
    const counter = async (): Promise<number> => (await world.status<{ counter: number }>(wanted))?.counter ?? -1;
    const before = await counter();
    for (let readyReplicas = 0; readyReplicas < 30; readyReplicas += 1)
      await member.setStatus('cache', { phase: 'Updating', message: `step ${readyReplicas}` });
    await member.setStatus('cache', { phase: 'Ready' });
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    expect((await counter()) - before).toBeLessThanOrEqual(6);
  });

  it('bounded socket buffers: a peer that reads nothing is not fed on, and is told anew when it comes back', async () => {
    const { hub, proxy } = await world.behindProxy();
    const enrolled = await enrolAgent(hub);
    const connected = proxy.next();
    const { agent } = await openSession(hub, enrolled);
    const connection = await connected;
    const rss = (): number => process.memoryUsage().arrayBuffers;
    proxy.freeze('DOWN');
    const before = rss();
    // 20 MB, five times what a socket may hold back, for an agent that is half-open.
    await world.query(
      `WITH r AS (
         INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
           hub_generation, spec, spec_hash, created_at, updated_at)
         SELECT gen_random_uuid(), $1, $2, $3, 'redis.atoll.dev/v1alpha1', 'RedisCluster', 'default', 'c-' || n, 1,
           '{"x":"' || repeat('y', 180000) || '"}', repeat('a', 64), now(), now() FROM generate_series(1, 120) AS n RETURNING hub_uid
       ), c AS (
         INSERT INTO desired_change (agent_id, revision, hub_uid, op)
         SELECT $3, row_number() OVER (), hub_uid, 'UPSERT' FROM r
       ), d AS (
         INSERT INTO delivery (hub_uid, hub_generation, state, updated_at) SELECT hub_uid, 1, 'PENDING', now() FROM r
       )
       UPDATE agent_spec_head SET revision = 120 WHERE agent_id = $3`,
      [enrolled.projectId, enrolled.memberClusterId, enrolled.agentId],
    );
    await vi.waitFor(() => expect(connection.bytes.down).toBeGreaterThan(0.2 * MEBIBYTE), WAIT);
    await settle();
    await settle();
    expect(connection.bytes.down).toBeLessThan(2 * MEBIBYTE);
    expect(rss() - before).toBeLessThan(60 * MEBIBYTE);
    proxy.release();
    const { upserts } = await agent.next('Delta', 10_000);
    expect(upserts.length).toBeGreaterThan(0);
    agent.cut();
  });

  it('one noisy agent starves nobody: the status of another is stored while the noise waits', async () => {
    const noisy = await begin();
    const quiet = await begin();
    for (let counter = 0; counter < 400; counter += 1)
      noisy.agent.send('StatusBatch', {
        counter,
        items: Array.from({ length: 50 }, (_, at) => ({ ...itemOf(noisy.wanted, `Noise${counter}`), name: `n-${at}` })),
      });
    quiet.agent.send('StatusBatch', { counter: 0, items: [itemOf(quiet.wanted, 'Ready')] });
    await quiet.agent.next('StatusAck', 10_000);
    expect(noisy.agent.pending('StatusAck')).toBeLessThan(400);
    expect((await world.status(quiet.wanted))?.phase).toBe('Ready');
    for (const { agent } of [noisy, quiet]) agent.cut();
  });

  it('acks after the commit: while PostgreSQL cannot commit nothing is acked, and nothing is lost', async () => {
    const { agent, wanted } = await begin();
    agent.send('StatusBatch', { counter: 0, items: [itemOf(wanted, 'Creating')] });
    await agent.next('StatusAck');
    const runner = world.hub.runtime.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM resource_status WHERE hub_uid = $1 FOR UPDATE', [wanted.hubUid]);
    agent.send('StatusBatch', { counter: 1, items: [itemOf(wanted, 'Ready')] });
    await settle();
    expect(agent.pending('StatusAck')).toBe(0);
    await runner.commitTransaction();
    await runner.release();
    expect(await agent.next('StatusAck')).toMatchObject({ counter: 1 });
    expect((await world.status(wanted))?.phase).toBe('Ready');
    agent.cut();
  });

  it('an ack that was lost costs nothing: the next session brings the same status', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await world.until(true, async () => (await world.status(wanted)) !== undefined);
    member.proxy.freeze('DOWN');
    await member.setStatus('cache', { phase: 'Ready' });
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    await member.setStatus('cache', { phase: 'Degraded' });
    await member.setStatus('cache', { phase: 'Ready' });
    member.proxy.thaw();
    member.proxy.cut();
    await world.until(false, () => Promise.resolve(member.isConnected));
    await member.setStatus('cache', { phase: 'Updating' });
    await world.until('Updating', async () => (await world.status(wanted))?.phase);
  });

  it('a poisoned item is left out, and the others of all agents are stored', async () => {
    const [bad, good] = [await begin(), await begin()];
    bad.agent.send('StatusBatch', { counter: 0, items: [{ ...itemOf(bad.wanted, 'Ready'), size: 2 ** 40 }] });
    good.agent.send('StatusBatch', { counter: 0, items: [itemOf(good.wanted, 'Ready')] });
    await bad.agent.next('StatusAck');
    await good.agent.next('StatusAck');
    expect((await world.status(good.wanted))?.phase).toBe('Ready');
    for (const { agent } of [bad, good]) agent.cut();
  });
});
