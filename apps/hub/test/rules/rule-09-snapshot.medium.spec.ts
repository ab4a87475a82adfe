import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { digestOf, EMPTY_DIGEST, freezeSpec } from '#protocol';

import { type Enrolled, enrolAgent, unwant, want } from '../link-fixture.ts';
import type { TestHub } from '../start-test-hub.ts';
import { TestAgent } from '../test-agent.ts';
import { settle } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

/** An agent that has said Hello for the first time. */
async function begin(hub: TestHub, enrolled: Enrolled): Promise<TestAgent> {
  const agent = await TestAgent.connect(hub, enrolled.identity);
  agent.hello();
  expect((await agent.next('Welcome')).mode).toBe('SNAPSHOT');
  return agent;
}

/** So many wanted objects at once, of about so many bytes each. */
async function wantMany(
  { agentId, memberClusterId, projectId }: Enrolled,
  count: number,
  bytes: number,
): Promise<void> {
  const { text, hash } = freezeSpec({ mode: 'Standalone', config: { 'notify-keyspace-events': 'x'.repeat(bytes) } });
  await world.query(
    `WITH r AS (
       INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
         hub_generation, spec, spec_hash, created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2, $3, 'redis.atoll.dev/v1alpha1', 'RedisCluster', 'default', 'c-' || n, 1, $4, $5,
         now(), now() FROM generate_series(1, $6) AS n RETURNING hub_uid
     ), d AS (
       INSERT INTO delivery (hub_uid, hub_generation, state, updated_at) SELECT hub_uid, 1, 'PENDING', now() FROM r
     )
     UPDATE agent_spec_head SET revision = revision + 1 WHERE agent_id = $3`,
    [projectId, memberClusterId, agentId, text, hash, count],
  );
}

describe('rule 9, snapshot', () => {
  it('is one REPEATABLE READ transaction with its revision: what commits meanwhile comes as a Delta after it', async () => {
    const enrolled = await enrolAgent(world.hub);
    const first = await want(world.hub, enrolled, 'first');
    const agent = await begin(world.hub, enrolled);
    const end = await agent.next('SnapshotEnd');
    expect(end).toMatchObject({ revision: 1, digest: digestOf([first]) });
    const second = await want(world.hub, enrolled, 'second');
    agent.send('DesiredAck', { revision: 1, outcomes: [{ ...first, state: 'APPLIED' }], digest: digestOf([first]) });
    expect(await agent.next('Delta')).toMatchObject({ revision: 2, upserts: [{ hubUid: second.hubUid }] });
    agent.close();
  });

  it('is whole while mutations run: each digest is that of the revision it names', async () => {
    const enrolled = await enrolAgent(world.hub);
    const wanted = [];
    let stop = false;
    const writing = (async () => {
      for (let count = 0; !stop; count += 1) wanted.push(await want(world.hub, enrolled, `w-${count}`));
    })();
    try {
      for (let times = 0; times < 8; times += 1) {
        const agent = await begin(world.hub, enrolled);
        const { objectCount } = await agent.next('SnapshotBegin');
        const end = await agent.next('SnapshotEnd');
        // One object each revision.
        expect(objectCount).toBe(end.revision);
        expect(agent.pending('Delta')).toBe(0);
        agent.cut();
      }
    } finally {
      stop = true;
      await writing;
    }
  });

  it('deltas of that session wait until it is acked', async () => {
    const enrolled = await enrolAgent(world.hub);
    const agent = await begin(world.hub, enrolled);
    await agent.next('SnapshotEnd');
    await want(world.hub, enrolled, 'late');
    await settle();
    expect(agent.pending('Delta')).toBe(0);
    agent.send('DesiredAck', { revision: 0, outcomes: [], digest: EMPTY_DIGEST });
    await agent.next('Delta');
    agent.close();
  });

  it('End carries all unacked tombstones, in every session until they are acked', async () => {
    const enrolled = await enrolAgent(world.hub);
    const doomed = [];
    for (const name of ['a', 'b']) doomed.push(await want(world.hub, enrolled, name));
    for (const { hubUid } of doomed) await unwant(world.hub, enrolled, hubUid);
    for (let times = 0; times < 2; times += 1) {
      const agent = await begin(world.hub, enrolled);
      const { tombstones } = await agent.next('SnapshotEnd');
      expect(tombstones.map(({ hubUid }) => hubUid).sort()).toEqual(doomed.map(({ hubUid }) => hubUid).sort());
      agent.cut();
    }
  });

  it('the agent records the revision only after it is verified: one that is cut in the middle does not count', async () => {
    const member = await world.addMember();
    await member.stop();
    await member.loseMemory();
    // More than one chunk, and the proxy passes about half of it.
    await wantMany(member.enrolled, 12, 120_000);
    member.proxy.delay(60, 'DOWN');
    const connected = member.proxy.next();
    member.run();
    const connection = await connected;
    await vi.waitFor(() => expect(connection.bytes.down).toBeGreaterThan(600_000), { interval: 1, timeout: 10_000 });
    connection.cut();
    member.proxy.delay(0);
    expect(member.link.state().appliedRevision).toBe(0);
    await world.untilInSync(member);
    expect(member.link.state().appliedRevision).toBe(1);
    expect(await member.names()).toHaveLength(12);
  });

  it('of 5,000 objects stays under the limit of a frame', { timeout: 60_000 }, async () => {
    const enrolled = await enrolAgent(world.hub);
    await wantMany(enrolled, 5_000, 1_000);
    const agent = await begin(world.hub, enrolled);
    // The WebSocket of the agent takes no frame over the limit: it would be closed.
    const { objectCount } = await agent.next('SnapshotBegin');
    await agent.next('SnapshotEnd', 20_000);
    expect(objectCount).toBe(5_000);
    expect(agent.pending('SnapshotChunk')).toBeGreaterThan(10);
    expect(agent.closeCode).toBeUndefined();
    agent.close();
  });
});
