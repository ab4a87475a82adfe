import { EMPTY_DIGEST, digestOf } from '#protocol';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import {
  approve,
  enrol,
  enrolAgent,
  openSession,
  readDelivery,
  revise,
  revoke,
  unwant,
  want,
} from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { createIdentity, TestAgent } from '../../../../test/test-agent.ts';
import { WAIT } from '../../../../test/wait.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

/** Sends one request for an upgrade as it is, which no client library would, and returns the status line. */
function upgradeTo(target: string): Promise<string> {
  const [host = '', port = ''] = hub.ready.agentAddress.split(':');
  const socket = connect({ host, port: Number(port), ca: hub.runtime.tls.caCertificate, servername: 'localhost' });
  socket.write(`GET ${target} HTTP/1.1\r\nHost: hub\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  return new Promise((done, failed) => {
    socket.on('data', (data) => done(data.toString().split('\r\n')[0] ?? '')).on('error', failed);
  });
}

describe('the listener', () => {
  it.each(['//', '//:port', 'http://[', '/other', '/agent/v1/', '*'])('refuses %s and stays', async (target) => {
    expect(await upgradeTo(target)).toBe('HTTP/1.1 404 Not Found');
  });
});

describe('enrolment', () => {
  it('binds key and fingerprint at approval, and tells the waiting agent at once', async () => {
    const { agentId, token } = await enrol(hub);
    const agent = await TestAgent.connect(hub, createIdentity());
    agent.enrol(token);
    expect((await agent.next('EnrolPending')).retryAfterMs).toBeGreaterThan(0);
    await approve(hub, agentId);
    expect(await agent.next('Enrolled')).toMatchObject({ agentId, hubEpoch: hub.runtime.identity.hubEpoch });
    agent.close();
  });

  it('refuses an unknown token', async () => {
    const agent = await TestAgent.connect(hub, createIdentity());
    agent.enrol('atoll_unknown');
    expect(await agent.next('Refused')).toMatchObject({ code: 'TOKEN_INVALID', terminal: true });
  });

  it('reads eight frames of a peer without a session, and cuts it off', async () => {
    const count = async (): Promise<number> =>
      (await hub.runtime.metrics.frames.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await count();
    const agent = await TestAgent.connect(hub, createIdentity());
    for (let sent = 0; sent < 1_000; sent += 1) agent.send('EventBatch', { counter: sent, items: [] });
    await vi.waitFor(() => expect(agent.closeCode).toBe(1006), WAIT);
    expect((await count()) - before).toBeLessThanOrEqual(8);
  });

  it('refuses a token that another key used', async () => {
    const { token } = await enrol(hub);
    const first = await TestAgent.connect(hub, createIdentity());
    first.enrol(token);
    await first.next('EnrolPending');
    first.enrol(token);
    await first.next('EnrolPending');
    const second = await TestAgent.connect(hub, createIdentity());
    second.enrol(token);
    expect(await second.next('Refused')).toMatchObject({ code: 'TOKEN_INVALID' });
    first.close();
  });

  it('waits for approval on one connection an agent: the newest takes the place of the one before', async () => {
    const { agentId, token } = await enrol(hub);
    const identity = createIdentity();
    const older = await TestAgent.connect(hub, identity);
    older.enrol(token);
    await older.next('EnrolPending');
    // Again on the same one: it does not end itself.
    older.enrol(token);
    await older.next('EnrolPending');
    const newer = await TestAgent.connect(hub, identity);
    newer.enrol(token);
    await newer.next('EnrolPending');
    expect(await older.waitForClose()).toBe(4001);
    await approve(hub, agentId);
    await newer.next('Enrolled');
    expect(older.pending('Enrolled')).toBe(0);
    newer.close();
  });

  it('refuses an enrolment that its key did not sign', async () => {
    const { token } = await enrol(hub);
    const agent = await TestAgent.connect(hub, createIdentity());
    agent.enrol(token, { publicKey: createIdentity().keys.publicKey });
    expect(await agent.next('Refused')).toMatchObject({ code: 'SIGNATURE_INVALID' });
  });
});

describe('hello', () => {
  it('is refused with a wrong signature', async () => {
    const { identity } = await enrolAgent(hub);
    const agent = await TestAgent.connect(hub, { ...identity, keys: createIdentity().keys });
    agent.hello();
    expect(await agent.next('Refused')).toMatchObject({ code: 'SIGNATURE_INVALID', terminal: true });
    expect(await agent.waitForClose()).toBe(1008);
  });

  it('is refused before approval, without ending the attempts', async () => {
    const { agentId } = await enrol(hub);
    const agent = await TestAgent.connect(hub, { ...createIdentity(), agentId });
    agent.hello();
    // The agent has no key yet, so no signature can be right.
    expect(await agent.next('Refused')).toMatchObject({ code: 'SIGNATURE_INVALID' });
  });

  it('of another protocol is told what the hub speaks', async () => {
    const { identity } = await enrolAgent(hub);
    const agent = await TestAgent.connect(hub, identity);
    agent.hello({ protocolVersions: [99] });
    expect((await agent.next('UpgradeRequired')).supportedProtocolVersions).toEqual([1]);
  });

  it('from another cluster quarantines the agent', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent: live } = await openSession(hub, enrolled);
    const clone = await TestAgent.connect(hub, { ...enrolled.identity, fingerprint: 'kubeSystemUid:other' });
    clone.hello();
    expect(await clone.next('Refused')).toMatchObject({ code: 'FINGERPRINT_MISMATCH' });
    expect(await live.next('Refused')).toMatchObject({ code: 'AGENT_QUARANTINED' });
  });

  it('raises the session, and the newest wins', async () => {
    const enrolled = await enrolAgent(hub);
    const first = await openSession(hub, enrolled);
    const second = await openSession(hub, { ...enrolled, identity: { ...enrolled.identity, instanceId: 'next-pod' } });
    expect(second.welcome.sessionNo).toBe(first.welcome.sessionNo + 1);
    expect(await first.agent.waitForClose()).toBe(4001);
    second.agent.close();
  });

  it('of two instances that take turns quarantines both after more than three take-overs', async () => {
    const enrolled = await enrolAgent(hub);
    const other = { ...enrolled, identity: { ...enrolled.identity, instanceId: 'clone' } };
    for (const turn of [enrolled, other, enrolled, other]) await openSession(hub, turn);
    const last = await TestAgent.connect(hub, enrolled.identity);
    last.hello();
    expect(await last.next('Refused')).toMatchObject({ code: 'AGENT_QUARANTINED', terminal: true });
  });

  it('is answered by the end of the session once the agent is revoked', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    await revoke(hub, enrolled.agentId);
    expect(await agent.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED', terminal: true });
    const again = await TestAgent.connect(hub, enrolled.identity);
    again.hello();
    expect(await again.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED' });
  });
});

describe('desired state', () => {
  it('comes as a Delta, is booked by its ack, and is created only once', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'cache');
    const delta = await agent.next('Delta');
    expect(delta).toMatchObject({
      revision: 1,
      upserts: [{ ...wanted, create: true, driftPolicy: 'Report' }],
      tombstones: [],
    });
    agent.send('DesiredAck', {
      revision: 1,
      outcomes: [{ ...wanted, state: 'APPLIED' }],
      digest: digestOf([wanted]),
    });
    await vi.waitFor(
      async () =>
        expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({
          state: 'APPLIED',
          applied_generation: 1,
          create_allowed: false,
        }),
      WAIT,
    );
    const next = await revise(hub, enrolled, wanted, { mode: 'Standalone', size: 1 });
    expect((await agent.next('Delta')).upserts).toMatchObject([{ ...next, create: false }]);
    agent.close();
  });

  it('has one Delta in flight; what changes meanwhile is merged', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'merged');
    await agent.next('Delta');
    let last = wanted;
    for (const size of [1, 2, 3]) last = await revise(hub, enrolled, last, { size });
    await new Promise((done) => setTimeout(done, 100));
    expect(agent.pending('Delta')).toBe(0);
    agent.send('DesiredAck', { revision: 1, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
    expect(await agent.next('Delta')).toMatchObject({ revision: 4, upserts: [last] });
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'PENDING', applied_generation: 1 });
    agent.close();
  });

  it('comes as a snapshot at the first session', async () => {
    const enrolled = await enrolAgent(hub);
    const wanted = [await want(hub, enrolled, 'a'), await want(hub, enrolled, 'b')];
    const agent = await TestAgent.connect(hub, enrolled.identity);
    agent.hello();
    expect((await agent.next('Welcome')).mode).toBe('SNAPSHOT');
    expect(await agent.next('SnapshotBegin')).toEqual({ revision: 2, objectCount: 2 });
    expect((await agent.next('SnapshotChunk')).upserts).toHaveLength(2);
    expect(await agent.next('SnapshotEnd')).toEqual({ revision: 2, digest: digestOf(wanted), tombstones: [] });
    agent.close();
  });

  it('is sent again at each Hello while it is not applied', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'waits');
    await agent.next('Delta');
    const waits = { ...wanted, state: 'WAITING', code: 'NAME_TAKEN', retryable: true } as const;
    agent.send('DesiredAck', { revision: 1, outcomes: [waits], digest: EMPTY_DIGEST });
    await vi.waitFor(
      async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'WAITING' }),
      WAIT,
    );
    agent.close();
    const { hubEpoch } = hub.runtime.identity;
    const again = await openSession(hub, enrolled, { hubEpoch, appliedRevision: 1 });
    expect(again.welcome.mode).toBe('DELTA');
    expect(await again.agent.next('Delta')).toMatchObject({ revision: 1, upserts: [wanted] });
    again.agent.close();
  });

  it('counts a refusal, and keeps the rest moving', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'refused');
    await agent.next('Delta');
    const refused = { ...wanted, state: 'REJECTED', code: 'SPEC_REJECTED', message: 'size', retryable: false } as const;
    agent.send('DesiredAck', { revision: 1, outcomes: [refused], digest: EMPTY_DIGEST });
    const second = await want(hub, enrolled, 'second');
    expect((await agent.next('Delta')).upserts).toMatchObject([second]);
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'REJECTED', code: 'SPEC_REJECTED' });
    agent.close();
  });

  it('gets a new generation when the old one was used for another spec', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'reused');
    await agent.next('Delta');
    const reused = { ...wanted, state: 'REJECTED', code: 'GENERATION_REUSED', retryable: false } as const;
    agent.send('DesiredAck', { revision: 1, outcomes: [reused], digest: EMPTY_DIGEST });
    expect((await agent.next('Delta')).upserts).toMatchObject([{ ...wanted, hubGeneration: 2 }]);
    agent.close();
  });
});

describe('rule 14: a definition that is older than the spec', () => {
  const RELEASE_0_1_0 = 'f7832b393759c6521f7312178b3c7f4872c4d9c0b5172aeb6f26abccacde1455';
  const LATER = { mode: 'Standalone', size: 1, auth: { enabled: true } };

  it('has the spec withheld, keeps the object, and gets it with the newer definition', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled, { crdSchemaHash: RELEASE_0_1_0 });
    const wanted = await want(hub, enrolled, 'kept', { mode: 'Standalone' });
    const { revision } = await agent.next('Delta');
    agent.send('DesiredAck', { revision, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
    await vi.waitFor(
      async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
      WAIT,
    );

    const later = await revise(hub, enrolled, wanted, LATER);
    expect(await agent.next('Delta')).toMatchObject({ upserts: [], tombstones: [] });
    agent.send('DesiredAck', { revision: revision + 1, outcomes: [], digest: digestOf([wanted]) });
    const other = await want(hub, enrolled, 'other', { mode: 'Standalone' });
    expect((await agent.next('Delta')).upserts).toMatchObject([{ hubUid: other.hubUid }]);
    expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'WAITING', code: 'CRD_TOO_OLD' });
    agent.close();
    await agent.waitForClose();

    // A snapshot names it as held, so that the agent does not take the object for one that nobody knows.
    const old = await TestAgent.connect(hub, enrolled.identity);
    old.hello({ crdSchemaHash: RELEASE_0_1_0 });
    expect(await old.next('SnapshotBegin')).toMatchObject({ objectCount: 1 });
    expect((await old.next('SnapshotEnd')).held).toEqual([wanted.hubUid]);
    old.close();
    await old.waitForClose();

    const hello = { hubEpoch: hub.runtime.identity.hubEpoch, appliedRevision: revision + 1, crdSchemaHash: 'newer' };
    const { agent: newer } = await openSession(hub, enrolled, { ...hello, specDigest: digestOf([wanted]) });
    expect((await newer.next('Delta')).upserts).toContainEqual(expect.objectContaining(later));
    newer.close();
  });

  it('that nobody recorded is sent everything; what it refuses is no retry, and comes with its next Hello', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled, { crdSchemaHash: 'foreign' });
    const wanted = await want(hub, enrolled, 'refused', LATER);
    expect((await agent.next('Delta')).upserts).toMatchObject([wanted]);
    const message = 'failed to create typed patch object (…): .spec.auth: field not declared in schema';
    const refused = { ...wanted, state: 'REJECTED', code: 'CRD_TOO_OLD', message, retryable: false } as const;
    agent.send('DesiredAck', { revision: 1, outcomes: [refused], digest: EMPTY_DIGEST });
    await vi.waitFor(
      async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'REJECTED' }),
      WAIT,
    );
    agent.close();
    await agent.waitForClose();
    const { hubEpoch } = hub.runtime.identity;
    const { agent: newer } = await openSession(hub, enrolled, { hubEpoch, appliedRevision: 1, crdSchemaHash: 'newer' });
    expect((await newer.next('Delta')).upserts).toMatchObject([wanted]);
    newer.close();
  });
});

describe('tombstones', () => {
  it('wait for their ack; then the row goes', async () => {
    const enrolled = await enrolAgent(hub);
    const first = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'doomed');
    await first.agent.next('Delta');
    first.agent.send('DesiredAck', {
      revision: 1,
      outcomes: [{ ...wanted, state: 'APPLIED' }],
      digest: digestOf([wanted]),
    });
    await vi.waitFor(
      async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
      WAIT,
    );
    first.agent.close();
    await first.agent.waitForClose();
    await unwant(hub, enrolled, wanted.hubUid);
    const { hubEpoch } = hub.runtime.identity;
    const hello = { hubEpoch, appliedRevision: 1, specDigest: digestOf([wanted]) };
    const { agent } = await openSession(hub, enrolled, hello);
    const delta = await agent.next('Delta');
    expect(delta).toMatchObject({
      revision: 2,
      upserts: [],
      tombstones: [{ hubUid: wanted.hubUid, operation: 'DELETE' }],
    });
    expect(await readDelivery(hub, wanted.hubUid)).toBeDefined();
    agent.send('DesiredAck', {
      revision: 2,
      outcomes: [{ hubUid: wanted.hubUid, hubGeneration: 0, state: 'DELETED' }],
      digest: EMPTY_DIGEST,
    });
    await vi.waitFor(async () => expect(await readDelivery(hub, wanted.hubUid)).toBeUndefined(), WAIT);
    agent.close();
  });

  it('asked for while a create is on its way: its late answers neither end the delete nor hide it', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'stale');
    await agent.next('Delta');
    await unwant(hub, enrolled, wanted.hubUid);
    const answers = [
      { ...wanted, state: 'REJECTED', code: 'NOT_PERMITTED_HERE', retryable: true },
      { ...wanted, state: 'DELETED_LOCALLY', code: 'DELETED_LOCALLY' },
      { ...wanted, state: 'APPLIED' },
    ] as const;
    for (const answer of answers) agent.send('DesiredAck', { revision: 1, outcomes: [answer], digest: EMPTY_DIGEST });
    const delta = await agent.next('Delta');
    expect(delta).toMatchObject({ revision: 2, upserts: [], tombstones: [{ hubUid: wanted.hubUid }] });
    // Still listed, as being deleted, and with what the member cluster holds by now.
    await vi.waitFor(
      async () =>
        expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({
          state: 'PENDING',
          code: null,
          applied_generation: 1,
        }),
      WAIT,
    );
    const deleted = { hubUid: wanted.hubUid, hubGeneration: 0, state: 'DELETED' } as const;
    agent.send('DesiredAck', { revision: 2, outcomes: [deleted], digest: EMPTY_DIGEST });
    await vi.waitFor(async () => expect(await readDelivery(hub, wanted.hubUid)).toBeUndefined(), WAIT);
    agent.close();
  });

  it('beyond three in five minutes wait for an approval', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = [];
    for (const name of ['d1', 'd2', 'd3', 'd4']) wanted.push(await want(hub, enrolled, name));
    for (const { hubUid } of wanted) await unwant(hub, enrolled, hubUid);
    const told = new Set<string>();
    while (told.size < 3) {
      const delta = await agent.next('Delta');
      for (const tombstone of delta.tombstones) told.add(tombstone.hubUid);
      agent.send('DesiredAck', { revision: delta.revision, outcomes: [], digest: EMPTY_DIGEST });
    }
    const held = wanted.find(({ hubUid }) => !told.has(hubUid));
    await vi.waitFor(
      async () =>
        expect(await readDelivery(hub, held?.hubUid ?? '')).toMatchObject({ state: 'WAITING', code: 'DELETE_BREAKER' }),
      WAIT,
    );
    agent.close();
    // A snapshot names the held one too: the agent would else call it UNCLAIMED, and the two sides would disagree.
    const again = await TestAgent.connect(hub, enrolled.identity);
    again.hello();
    expect(await again.next('Welcome')).toMatchObject({ mode: 'SNAPSHOT' });
    const end = await again.next('SnapshotEnd');
    expect(end.held).toEqual([held?.hubUid]);
    expect(new Set(end.tombstones.map(({ hubUid }) => hubUid))).toEqual(told);
    again.close();
  });
});
