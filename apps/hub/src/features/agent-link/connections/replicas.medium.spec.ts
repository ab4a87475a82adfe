import { digestOf, EMPTY_DIGEST, keyRotationSigningInput, signInput } from '#protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';

import {
  type Enrolled,
  enrolAgent,
  openSession,
  readDelivery,
  revise,
  revoke,
  want,
} from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { createIdentity, TestAgent } from '../../../../test/test-agent.ts';
import { WAIT } from '../../../../test/wait.ts';

const running: TestHub[] = [];
afterEach(async () => {
  for (const hub of running.splice(0).reverse()) await hub.close();
});
async function start(...args: Parameters<typeof startTestHub>): Promise<TestHub> {
  const hub = await startTestHub(...args);
  running.push(hub);
  return hub;
}
async function stop(hub: TestHub): Promise<void> {
  running.splice(running.indexOf(hub), 1);
  await hub.close();
}
const epochOf = (hub: TestHub): string => hub.runtime.identity.hubEpoch;

/** An enrolled agent with one object applied at revision 1. */
async function settle(
  hub: TestHub,
): Promise<{ enrolled: Enrolled; wanted: Awaited<ReturnType<typeof want>>; agent: TestAgent }> {
  const enrolled = await enrolAgent(hub);
  const { agent } = await openSession(hub, enrolled);
  const wanted = await want(hub, enrolled, 'cache');
  await agent.next('Delta');
  agent.send('DesiredAck', { revision: 1, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
  await vi.waitFor(
    async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
    WAIT,
  );
  return { enrolled, wanted, agent };
}

describe('two replicas', () => {
  it('reach any agent with a write made on either', async () => {
    const url = await createTestDatabase();
    const a = await start(url);
    const b = await start(url, { like: a });
    expect(epochOf(b)).toBe(epochOf(a));
    const enrolled = await enrolAgent(a);
    const { agent } = await openSession(b, enrolled);
    const wanted = await want(a, enrolled, 'cache');
    expect((await agent.next('Delta')).upserts).toMatchObject([wanted]);
    agent.close();
  });

  it('give a session to the newest Hello, on whichever replica it arrives', async () => {
    const url = await createTestDatabase();
    const a = await start(url);
    const b = await start(url, { like: a });
    const enrolled = await enrolAgent(a);
    const first = await openSession(a, enrolled);
    const second = await openSession(b, enrolled);
    expect(second.welcome.sessionNo).toBe(first.welcome.sessionNo + 1);
    expect(await first.agent.waitForClose()).toBe(4001);
    const rows = await a.runtime.dataSource.query<{ replica: string; state: string }[]>(
      'SELECT replica, state FROM agent_session WHERE agent_id = $1',
      [enrolled.agentId],
    );
    expect(rows).toEqual([{ replica: b.runtime.replica, state: 'CONNECTED' }]);
    second.agent.close();
  });

  it('end a revoked session wherever it is', async () => {
    const url = await createTestDatabase();
    const a = await start(url);
    const b = await start(url, { like: a });
    const enrolled = await enrolAgent(a);
    const { agent } = await openSession(b, enrolled);
    await revoke(a, enrolled.agentId);
    expect(await agent.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED' });
  });
});

describe('a restart of the hub', () => {
  it('tells the agents, and goes on from what was booked', async () => {
    const url = await createTestDatabase();
    const a = await start(url);
    const { enrolled, wanted, agent } = await settle(a);
    await stop(a);
    expect(await agent.next('Drain')).toMatchObject({ afterMs: expect.any(Number) as number });
    expect(await agent.waitForClose()).toBe(1012);
    const b = await start(url, { like: a }).catch(() => start(url));
    const next = await revise(b, enrolled, wanted, { size: 3 });
    const hello = { hubEpoch: epochOf(b), appliedRevision: 1, specDigest: digestOf([wanted]) };
    const again = await openSession(b, enrolled, hello);
    expect(again.welcome.mode).toBe('DELTA');
    expect((await again.agent.next('Delta')).upserts).toMatchObject([{ ...next, create: false }]);
    again.agent.close();
  });

  it('survives the loss of all its connections to the database', async () => {
    const url = await createTestDatabase();
    const hub = await start(url);
    const { enrolled, wanted, agent } = await settle(hub);
    await hub.runtime.dataSource
      .query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
      .catch(() => undefined);
    const next = await vi.waitFor(() => revise(hub, enrolled, wanted, { size: 2 }), { ...WAIT, interval: 100 });
    // A statement of the session that was under way then ends it; an agent comes back.
    const comeBack = async (): ReturnType<typeof agent.next<'Delta'>> => {
      const hello = { hubEpoch: epochOf(hub), appliedRevision: 1, specDigest: digestOf([wanted]) };
      return (await openSession(hub, enrolled, hello)).agent.next('Delta');
    };
    expect((await agent.next('Delta').catch(comeBack)).upserts).toMatchObject([next]);
    agent.close();
  });
});

describe('another epoch', () => {
  it('compares inventories and destroys nothing', async () => {
    const hub = await start(await createTestDatabase());
    const { enrolled, wanted, agent } = await settle(hub);
    agent.close();
    const next = await TestAgent.connect(hub, enrolled.identity);
    next.hello({ hubEpoch: 'the one before', appliedRevision: 40, specDigest: digestOf([wanted]) });
    expect((await next.next('Welcome')).mode).toBe('INVENTORY');
    const place = { namespace: 'default', name: 'cache', unclaimed: false };
    const stranger = { hubUid: '01900000-0000-7000-8000-000000000001', hubGeneration: 9, specHash: 'f'.repeat(64) };
    next.send('InventoryChunk', { objects: [{ ...wanted, ...place }], last: false });
    next.send('InventoryChunk', { objects: [{ ...stranger, ...place, name: 'other' }], last: true });
    expect(await next.next('SnapshotBegin')).toEqual({ revision: 1, objectCount: 1 });
    expect(await next.next('SnapshotEnd')).toMatchObject({ tombstones: [] });
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' });
    next.close();
  });

  it('holds an object that is ahead of a hub restored to yesterday', async () => {
    const hub = await start(await createTestDatabase());
    const { enrolled, wanted, agent } = await settle(hub);
    agent.close();
    const ahead = { ...wanted, hubGeneration: 7, specHash: 'e'.repeat(64) };
    const next = await TestAgent.connect(hub, enrolled.identity);
    next.hello({ hubEpoch: epochOf(hub), appliedRevision: 9, specDigest: digestOf([ahead]) });
    expect((await next.next('Welcome')).mode).toBe('INVENTORY');
    next.send('InventoryChunk', {
      objects: [{ ...ahead, namespace: 'default', name: 'cache', unclaimed: false }],
      last: true,
    });
    const { revision } = await next.next('SnapshotEnd');
    const refused = { hubUid: wanted.hubUid, hubGeneration: 7, state: 'REJECTED', code: 'GENERATION_REUSED' } as const;
    next.send('DesiredAck', { revision, outcomes: [refused], digest: digestOf([ahead]) });
    const held = { state: 'WAITING', code: 'GENERATION_AHEAD', hub_generation: 7 };
    await vi.waitFor(async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject(held), WAIT);
    expect(next.pending('Reconnect')).toBe(0);
    const saved = await revise(hub, enrolled, { ...wanted, hubGeneration: 7 }, { size: 5 });
    expect((await next.next('Delta')).upserts).toMatchObject([{ ...saved, hubGeneration: 8 }]);
    next.close();
  });

  it('is made when the database turns out to be another one', async () => {
    const url = await createTestDatabase();
    const a = await start(url);
    await a.runtime.dataSource.query(`UPDATE hub_identity SET system_identifier = 'another'`);
    const b = await start(url);
    expect(epochOf(b)).not.toBe(epochOf(a));
  });
});

describe('a digest that differs', () => {
  it('in an ack leads to a comparison in the next session, once a minute at most', async () => {
    const hub = await start(await createTestDatabase());
    const { enrolled, wanted, agent } = await settle(hub);
    await revise(hub, enrolled, wanted, { size: 3 });
    const { revision } = await agent.next('Delta');
    agent.send('DesiredAck', { revision, outcomes: [], digest: EMPTY_DIGEST });
    expect(await agent.next('Reconnect')).toEqual({ afterMs: 0 });
    agent.close();
    const next = await TestAgent.connect(hub, enrolled.identity);
    next.hello({ hubEpoch: epochOf(hub), appliedRevision: revision, specDigest: EMPTY_DIGEST });
    expect((await next.next('Welcome')).mode).toBe('INVENTORY');
    next.send('InventoryChunk', { objects: [], last: true });
    const end = await next.next('SnapshotEnd');
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'DELETED_LOCALLY' });
    next.send('DesiredAck', { revision: end.revision, outcomes: [], digest: digestOf([wanted]) });
    await expect(next.next('Reconnect', 500)).rejects.toThrow('no Reconnect');
    next.close();
  });
});

describe('keys', () => {
  it('rotate by a message that the old key signed; the old one is good until the new one was used', async () => {
    const hub = await start(await createTestDatabase());
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const { keys } = createIdentity();
    const { identity, agentId } = enrolled;
    const signature = signInput(identity.keys.privateKeyPem, keyRotationSigningInput(keys.publicKey, agentId));
    agent.send('KeyRotation', { newPublicKey: keys.publicKey, signature });
    expect(await agent.next('KeyAccepted')).toEqual({ publicKey: keys.publicKey });
    const old = await openSession(hub, enrolled);
    const fresh = await openSession(hub, { ...enrolled, identity: { ...identity, keys } });
    const late = await TestAgent.connect(hub, identity);
    late.hello();
    expect(await late.next('Refused')).toMatchObject({ code: 'SIGNATURE_INVALID' });
    for (const one of [old, fresh]) one.agent.close();
  });
});
