import { EMPTY_DIGEST } from '#protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { countStatements } from '../../../../test/count-statements.ts';
import { seedAgents } from '../../../../test/seed-agents.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { TestAgent } from '../../../../test/test-agent.ts';
import { WAIT } from '../../../../test/wait.ts';
import { LINK_PARTS, type LinkParts } from '../connections/link-parts.ts';
import { LiveSessions } from '../connections/live-sessions.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

/** Of agents that hold what the hub wants: they were told revision 1 before, and nothing has changed since. */
const inStep = (): object => ({
  hubEpoch: hub.runtime.identity.hubEpoch,
  appliedRevision: 1,
  specDigest: EMPTY_DIGEST,
});

async function connectInStep(count: number): Promise<readonly TestAgent[]> {
  const identities = await seedAgents(hub, count);
  await hub.runtime.dataSource.query('UPDATE agent_spec_head SET revision = 1, acked_revision = 1');
  return Promise.all(identities.map((identity) => TestAgent.connect(hub, identity)));
}

const readSessions = (): Promise<{ sessionNo: number; instanceId: string; state: string; verdict: string }[]> =>
  hub.runtime.dataSource.query(
    `SELECT s.session_no AS "sessionNo", s.instance_id AS "instanceId", s.state, n.verdict
     FROM agent_session AS s JOIN agent_seen AS n ON n.agent_id = s.agent_id WHERE s.state = 'CONNECTED'`,
  );

describe('Hellos that arrive together', () => {
  it('take a handful of statements for a hundred, and none after it for agents in step', async () => {
    const agents = await connectInStep(100);
    const counts = await countStatements(async () => {
      for (const agent of agents) agent.hello(inStep());
      for (const agent of agents) expect(await agent.next('Welcome')).toMatchObject({ mode: 'DELTA', sessionNo: 1 });
      await new Promise((done) => setTimeout(done, 300));
    });
    // What is sent for each agent is sent a hundred times; the hub's workers send theirs twice a second meanwhile.
    expect(Math.max(...counts.values())).toBeLessThan(100);
    expect(await readSessions()).toHaveLength(100);
    for (const agent of agents) expect(agent.pending('Delta')).toBe(0);
    for (const agent of agents) agent.close();
    for (const agent of agents) await agent.waitForClose();
  });

  it('do not suffer for one that cannot be stored', async () => {
    await hub.runtime.dataSource.query(`ALTER TABLE agent ADD CONSTRAINT storable CHECK (agent_version <> 'bad')`);
    const agents = await connectInStep(9);
    for (const [index, agent] of agents.entries())
      agent.hello({ ...inStep(), ...(index === 4 ? { agentVersion: 'bad' } : {}) });
    for (const [index, agent] of agents.entries()) {
      if (index === 4) expect(await agent.waitForClose()).toBe(1012);
      else expect(await agent.next('Welcome')).toMatchObject({ sessionNo: 1 });
    }
    for (const agent of agents) agent.close();
  });

  it('of agents that have gone meanwhile take no session from anybody', async () => {
    const agents = await connectInStep(3);
    const { sessions } = hub.app.get<LinkParts>(LINK_PARTS);
    const find = vi.spyOn(sessions, 'findAgent').mockImplementation(async (agentId) => {
      find.mockRestore();
      for (const agent of agents) agent.cut();
      await new Promise((done) => setTimeout(done, 300));
      return sessions.findAgent(agentId);
    });
    agents[0]?.hello(inStep());
    await new Promise((done) => setTimeout(done, 800));
    const rows = await hub.runtime.dataSource.query<{ session_no: number }[]>(
      'SELECT session_no FROM agent_session WHERE agent_id = $1',
      [agents[0]?.identity.agentId],
    );
    expect(rows).toEqual([{ session_no: 0 }]);
  });

  it.each(['cut', 'close'] as const)('of agents that go while they are accepted leave no session (%s)', async (way) => {
    const { sessions } = hub.app.get<LinkParts>(LINK_PARTS);
    const live = hub.app.get(LiveSessions);
    const [identity] = await seedAgents(hub, 1);
    if (!identity) throw new Error('no agent');
    const agent = await TestAgent.connect(hub, identity);
    const gone = Promise.withResolvers<void>();
    const accept = vi.spyOn(sessions, 'accept').mockImplementationOnce(async (...args) => {
      accept.mockRestore();
      const acceptance = await sessions.accept(...args);
      agent[way]();
      await agent.waitForClose();
      // Its close has been told here as well: the hub's side of it may be a turn of the event loop behind.
      await new Promise((done) => setTimeout(done, 50));
      gone.resolve();
      return acceptance;
    });
    agent.hello();
    await gone.promise;
    const row = (): Promise<object[]> =>
      hub.runtime.dataSource.query('SELECT session_no, state FROM agent_session WHERE agent_id = $1', [
        identity.agentId,
      ]);
    await vi.waitFor(async () => expect(await row()).toEqual([{ session_no: 1, state: 'DISCONNECTED' }]), WAIT);
    await vi.waitFor(() => expect(live.all.filter(({ agentId }) => agentId === identity.agentId)).toEqual([]), WAIT);
    expect((await hub.runtime.metrics.sessions.get()).values[0]?.value).toBe(live.all.length);
  });

  it('of one agent are judged one after the other: the later takes over, and a third instance of a clone is refused', async () => {
    const [identity] = await seedAgents(hub, 1);
    if (!identity) throw new Error('no agent');
    const instances = ['one', 'two'].map((instanceId) => ({ ...identity, instanceId }));
    const turns = [0, 1, 0, 1, 0].map((index) => instances[index] ?? identity);
    const agents = await Promise.all(turns.map((turn) => TestAgent.connect(hub, turn)));
    for (const agent of agents) agent.hello({ appliedRevision: 0 });
    for (const agent of agents) await agent.waitForClose();
    expect(agents.some((agent) => agent.pending('Refused') > 0)).toBe(true);
    const [row] = await hub.runtime.dataSource.query<{ state: string; taken: number; session_no: number }[]>(
      `SELECT a.state, s.session_no, (SELECT count(*)::int FROM agent_take_over WHERE agent_id = a.id) AS taken
       FROM agent AS a JOIN agent_session AS s ON s.agent_id = a.id WHERE a.id = $1`,
      [identity.agentId],
    );
    expect(row).toEqual({ state: 'QUARANTINED', taken: 4, session_no: 4 });
  });

  it('of a process that has lost its API server take no session from one that has not, and nobody is suspected', async () => {
    const [identity] = await seedAgents(hub, 1);
    if (!identity) throw new Error('no agent');
    const connect = (instanceId: string): Promise<TestAgent> => TestAgent.connect(hub, { ...identity, instanceId });
    const blind = await connect('blind');
    blind.hello();
    await blind.next('Welcome');
    blind.send('Heartbeat', { inventory: 'UNKNOWN' });
    const inventory = (): Promise<{ inventory: string }[]> =>
      hub.runtime.dataSource.query('SELECT inventory FROM agent_session WHERE agent_id = $1', [identity.agentId]);
    await vi.waitFor(async () => expect(await inventory()).toEqual([{ inventory: 'UNKNOWN' }]), WAIT);
    const seeing = await connect('seeing');
    seeing.hello();
    expect(await seeing.next('Welcome')).toMatchObject({ sessionNo: 2 });
    expect(await blind.waitForClose()).toBe(4001);
    for (let round = 0; round < 5; round += 1) {
      const again = await connect('blind');
      again.hello({ inventory: 'UNKNOWN' });
      expect(await again.next('Refused')).toMatchObject({ code: 'SESSION_HELD', terminal: false });
      await again.waitForClose();
    }
    const rows = await hub.runtime.dataSource.query<object[]>(
      `SELECT a.state, s.instance_id, (SELECT count(*)::int FROM agent_take_over WHERE agent_id = a.id) AS taken
       FROM agent AS a JOIN agent_session AS s ON s.agent_id = a.id WHERE a.id = $1`,
      [identity.agentId],
    );
    expect(rows).toEqual([{ state: 'ACTIVE', instance_id: 'seeing', taken: 0 }]);
    seeing.close();
  });
});
