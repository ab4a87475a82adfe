import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { FaultProxy } from '#testing';

import { enrolAgent, openSession } from '../link-fixture.ts';
import { lookAt } from '../look-at.ts';
import { startTestHub, type TestHub } from '../start-test-hub.ts';
import type { TestAgent } from '../test-agent.ts';
import { RuleWorld } from './rule-world.ts';
import { WAIT } from '../wait.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start({ replicas: 2 });
});
afterAll(() => world.close());

/** So many connected agents that say nothing by themselves. */
async function connectMany(hub: TestHub, count: number): Promise<TestAgent[]> {
  const agents = [];
  for (let at = 0; at < count; at += 1) agents.push((await openSession(hub, await enrolAgent(hub))).agent);
  return agents;
}

describe('rule 13, herds', () => {
  it('drain spreads the reconnects: no two waves, and every agent is told before the end', async () => {
    const hub = await world.startHub();
    const agents = await connectMany(hub, 12);
    const stopped = world.stopHub(hub);
    const pauses = await Promise.all(agents.map(async (agent) => (await agent.next('Drain')).afterMs));
    await stopped;
    expect(new Set(pauses).size).toBeGreaterThan(3);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
    await Promise.all(agents.map((agent) => agent.waitForClose()));
  });

  it('a rolling restart of every replica, twice: all agents are back and in sync, and nothing is written anew', async () => {
    const members = await Promise.all([world.addMember(), world.addMember(), world.addMember()]);
    for (const member of members) await world.deliver(member, 'cache');
    const writes = members.map((member) => member.writes());
    for (let times = 0; times < 4; times += 1) {
      const [oldest, next] = world.hubs;
      if (oldest === undefined || next === undefined) throw new Error('two replicas run');
      world.route(next);
      await world.stopHub(oldest);
      await world.startHub();
    }
    for (const member of members) {
      await world.untilConnected(member);
      await world.untilInSync(member);
    }
    expect(members.map((member) => member.writes())).toEqual(writes);
  });

  it('an agent in a crash loop is one agent: no second registration, no quarantine', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    const { sessionNo } = await world.session(member);
    for (let times = 0; times < 15; times += 1) {
      await member.kill({ silently: times % 2 === 0 });
      member.run();
      await world.untilConnected(member);
    }
    const rows = await world.query(
      `SELECT a.state, (SELECT count(*)::int FROM agent AS o WHERE o.member_cluster_id = a.member_cluster_id) AS agents,
         (SELECT count(*)::int FROM agent_session AS s WHERE s.agent_id = a.id) AS sessions FROM agent AS a WHERE a.id = $1`,
      [member.agentId],
    );
    expect(rows).toEqual([{ state: 'ACTIVE', agents: 1, sessions: 1 }]);
    expect((await world.session(member)).sessionNo).toBe(sessionNo + 15);
    await world.untilInSync(member);
  });

  it('hub liveness does not touch Postgres, readiness does', async () => {
    const url = new URL(world.databaseUrl);
    const proxy = await FaultProxy.start(`${url.searchParams.get('host') ?? ''}/.s.PGSQL.5432`, 0);
    [url.hostname = '', url.port = ''] = proxy.address.split(':');
    url.search = '';
    const hub = await startTestHub(url.toString(), { like: world.hub });
    expect([await lookAt(hub, '/livez'), await lookAt(hub, '/readyz')]).toEqual([200, 200]);
    proxy.refuse();
    proxy.cut();
    expect(await lookAt(hub, '/livez')).toBe(200);
    expect(await lookAt(hub, '/readyz')).toBe(503);
    // Half-open is worse: nobody says no.
    proxy.admit();
    await vi.waitFor(async () => expect(await lookAt(hub, '/readyz')).toBe(200), WAIT);
    proxy.freeze();
    expect(await lookAt(hub, '/livez')).toBe(200);
    expect(await lookAt(hub, '/readyz')).toBe(503);
    proxy.release();
    await vi.waitFor(async () => expect(await lookAt(hub, '/readyz')).toBe(200), WAIT);
    await hub.close();
    await proxy.stop();
  });

  it('heartbeats are flushed in one multi-row update per replica', async () => {
    const hub = await world.startHub();
    const agents = await connectMany(hub, 10);
    await world.query(`UPDATE agent_seen SET seen_at = now() - interval '20 seconds'`);
    // Of this replica alone: others of this process write what they hear as well.
    const asked = vi.spyOn(hub.runtime.dataSource, 'query');
    for (let times = 0; times < 5; times += 1)
      for (const agent of agents) agent.send('Heartbeat', { inventory: 'SYNCED' });
    await vi.waitFor(
      async () => {
        const rows = await world.query(
          `SELECT 1 FROM agent_seen AS n JOIN agent_session AS s USING (agent_id)
             WHERE s.replica = $1 AND n.seen_at > now() - interval '15 seconds'`,
          [hub.runtime.replica],
        );
        expect(rows).toHaveLength(10);
      },
      { ...WAIT, interval: 200 },
    );
    // Fifty heartbeats; those that came while the flush of the Hellos was due are in the next one.
    const updates = asked.mock.calls.filter(([text]) => text.startsWith('UPDATE agent_seen'));
    expect([1, 2]).toContain(updates.length);
    asked.mockRestore();
    for (const agent of agents) agent.cut();
    await world.stopHub(hub);
  });
});
