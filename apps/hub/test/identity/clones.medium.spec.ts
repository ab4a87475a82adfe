/**
 * 03 "Identity and trust": a key that is used in two places is taken from both, visibly; revocation ends sessions on every
 * replica at once; a forgotten member cluster stays forgotten; an enrolment counts once however often it is repeated.
 */
import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from 'vitest';

import { PersonWatch } from '../../src/features/agent-link/person-watch.ts';
import {
  approve,
  enrol,
  enrolAgent,
  type Enrolled,
  openSession,
  readDelivery,
  revoke,
  serviceOf,
  want,
} from '../link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { createIdentity, TestAgent } from '../test-agent.ts';
import { IdentityWorld } from './identity-world.ts';
import { WAIT } from '../wait.ts';

const hubs: TestHub[] = [];
let [a, b, c]: TestHub[] = [];

beforeAll(async () => {
  const url = await createTestDatabase();
  hubs.push(await startTestHub(url));
  for (let count = 0; count < 2; count += 1) hubs.push(await startTestHub(url, { like: hub() }));
  [a, b, c] = hubs;
});
afterAll(async () => {
  for (const each of hubs.reverse()) await each.close();
});

function hub(which: TestHub | undefined = hubs[0]): TestHub {
  if (which === undefined) throw new Error('no hub runs');
  return which;
}

async function startWorld({ onTestFinished }: TestContext): Promise<IdentityWorld> {
  const world = await IdentityWorld.start(hub(a));
  onTestFinished(() => world.stop());
  return world;
}
async function copy(
  { onTestFinished }: TestContext,
  world: IdentityWorld,
  place: Parameters<typeof IdentityWorld.copyOf>[1],
): Promise<IdentityWorld> {
  const made = await IdentityWorld.copyOf(world, place);
  onTestFinished(() => made.stop());
  return made;
}

const query = <T>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  hub(a).runtime.dataSource.query<T[]>(sql, [...values]);
const stateOf = async (agentId: string): Promise<{ state: string; reason: string | null } | undefined> =>
  (
    await query<{ state: string; reason: string | null }>(
      'SELECT state, state_reason AS reason FROM agent WHERE id = $1',
      [agentId],
    )
  )[0];
async function quarantinedOn(which: TestHub | undefined): Promise<number> {
  await hub(which).app.get(PersonWatch).look();
  return (await hub(which).runtime.metrics.agentsQuarantined.get()).values[0]?.value ?? -1;
}

async function expectQuarantined(worlds: readonly IdentityWorld[], what: RegExp): Promise<void> {
  const agentId = worlds[0]?.agentId ?? '';
  await vi.waitFor(async () => expect((await stateOf(agentId))?.state).toBe('QUARANTINED'), WAIT);
  for (const { link } of worlds) {
    await vi.waitFor(() => expect(link.state()).toMatchObject({ connected: false }), WAIT);
  }
  expect((await stateOf(agentId))?.reason).toMatch(what);
  expect((await stateOf(agentId))?.reason).toMatch(/approveAgent.*replaceMemberCluster/);
  expect(await quarantinedOn(c)).toBeGreaterThan(0);
  const audited = await query<{ action: string }>(
    `SELECT action FROM audit WHERE code = 'AGENT_QUARANTINED' AND after ->> 'reason' ~ $1`,
    [what.source],
  );
  expect(audited.length).toBeGreaterThan(0);
}

describe('a key that is used in two places', () => {
  it('one of them another Kubernetes cluster, is refused in both; nothing is sent until a person has approved', async (context) => {
    const world = await startWorld(context);
    const clone = await copy(context, world, 'OTHER_CLUSTER');
    await expectQuarantined([world, clone], /another Kubernetes cluster/);
    expect(clone.link.state().lastFailure).toMatch(/FINGERPRINT_MISMATCH|AGENT_QUARANTINED/);
    const projectId = await makeProject();
    const { hubUid } = await want(hub(a), { ...world, projectId } as unknown as Enrolled, 'cache');
    expect(await readDelivery(hub(a), hubUid)).toMatchObject({ state: 'PENDING' });
    await Promise.all([clone.link.stop(), world.link.stop()]);
    await approve(hub(b), world.agentId);
    world.run({ instanceId: 'i2' });
    await vi.waitFor(async () => expect(await readDelivery(hub(a), hubUid)).toMatchObject({ state: 'APPLIED' }), WAIT);
    expect((await stateOf(world.agentId))?.reason).toBeNull();
  });

  it('both of them the same Kubernetes cluster (an etcd snapshot beside the live one), is refused in both', async (context) => {
    const world = await startWorld(context);
    const clone = await copy(context, world, 'SAME_CLUSTER');
    await expectQuarantined([world, clone], /more than three times in five minutes/);
  });

  it('because the Lease changed hands while its holder had lost its API server, is taken from nobody', async (context) => {
    const world = await startWorld(context);
    // Its watch has not noticed yet: only that the Lease is not renewed.
    world.holdsLease = false;
    const next = await copy(context, world, 'SAME_CLUSTER');
    await vi.waitFor(() => expect(world.link.state()).toMatchObject({ connected: false }), WAIT);
    await next.untilConnected();
    const { sessionNo } = next.link.state();
    // It would dial again after a second.
    await new Promise((done) => setTimeout(done, 2_500));
    expect(next.link.state()).toMatchObject({ connected: true, sessionNo });
    expect(world.link.state()).toMatchObject({ connected: false, running: true });
    // The Lease comes back to it when the other one ends.
    await next.link.stop();
    world.holdsLease = true;
    await world.untilConnected();
    expect(await stateOf(world.agentId)).toEqual({ state: 'ACTIVE', reason: null });
  });
});

describe('revocation', () => {
  it('of all agents of a forgotten member cluster ends their sessions on every replica; none comes back or makes it anew', async () => {
    const enrolled = await enrolAgent(hub(a));
    const { agent } = await openSession(hub(c), enrolled);
    const before = await query<{ count: number }>('SELECT count(*)::int AS count FROM member_cluster');
    const { memberClusterId, identity } = enrolled;
    const done = await hub(b).runtime.dataSource.transaction((tx) =>
      serviceOf(hub(b)).forgetMemberCluster(tx, {
        input: { memberClusterId },
        actor: { principal: 'test' },
        nowMs: Date.now(),
      }),
    );
    expect(done.ok).toBe(true);
    expect(await agent.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED', terminal: true });
    for (const each of hubs) {
      const again = await TestAgent.connect(each, identity);
      again.hello();
      expect(await again.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED', terminal: true });
    }
    expect(await query('SELECT count(*)::int AS count FROM member_cluster')).toEqual(before);
    expect(await query('SELECT state FROM member_cluster WHERE id = $1', [memberClusterId])).toEqual([
      { state: 'FORGOTTEN' },
    ]);
  });

  it('of an agent in session is heard at once on each of three replicas', async () => {
    const sessions = await Promise.all(hubs.map(async (each) => ({ enrolled: await enrolAgent(each), each })));
    const open = await Promise.all(sessions.map(({ enrolled, each }) => openSession(each, enrolled)));
    for (const { enrolled } of sessions) await revoke(hub(b), enrolled.agentId);
    for (const { agent } of open) expect(await agent.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED' });
  });
});

describe('an enrolment', () => {
  it('that a crash loop repeats 500 times is one agent in one member cluster', async () => {
    const { agentId, token } = await enrol(hub(a));
    const identity = createIdentity();
    const counts = (): Promise<unknown[]> =>
      query(
        'SELECT (SELECT count(*)::int FROM agent) AS agents, (SELECT count(*)::int FROM member_cluster) AS members',
      );
    const before = await counts();
    // Of a peer without a session a hub reads no more than a few messages a connection.
    for (let round = 0; round < 100; round += 1) {
      const agent = await TestAgent.connect(hub(hubs[round % hubs.length]), identity);
      for (let time = 0; time < 5; time += 1) agent.enrol(token);
      await vi.waitFor(() => expect(agent.pending('EnrolPending')).toBe(5), WAIT);
      agent.cut();
    }
    expect(await counts()).toEqual(before);
    expect((await stateOf(agentId))?.state).toBe('PENDING_APPROVAL');
    await approve(hub(a), agentId);
    const agent = await TestAgent.connect(hub(b), identity);
    agent.enrol(token);
    expect(await agent.next('Enrolled')).toMatchObject({ agentId });
    agent.close();
  });
});

async function makeProject(): Promise<string> {
  const [row] = await query<{ id: string }>(
    `INSERT INTO project (id, name, created_at) VALUES (gen_random_uuid(), 'p' || gen_random_uuid(), now()) RETURNING id`,
  );
  return row?.id ?? '';
}
