/**
 * The agent's side of sessions with a fake hub over real TLS WebSockets: enrolment, resume, half-open connections, outages of
 * hub and API server, the fence, and how status and events are told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT_IDENTITY_SECRET, AGENT_STATE_CONFIG_MAP } from '#domain';
import { RESOURCE } from '#kube';
import { EMPTY_DIGEST, digestOf } from '#protocol';
import {
  FakeHub,
  FaultProxy,
  LinkWorld,
  buildTombstone,
  buildUpsert,
  describeOutcomes,
  sendDelta,
  until,
} from '#testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Link } from './index.ts';
import type { LinkParts, LinkSettings } from './index.ts';

let world: LinkWorld;
afterEach(() => world.stop());

async function startWorld(): Promise<LinkWorld> {
  world = await LinkWorld.start();
  return world;
}
const runLink = (at: LinkWorld, changes: Partial<LinkSettings> = {}): Link =>
  at.run(new Link({ ...at.settings(), ...changes }, at.parts()));

vi.setConfig({ testTimeout: 20_000 });

const stateOf = async (at: LinkWorld): Promise<Record<string, string>> => {
  const state = await at.client.find(RESOURCE.configMap, { namespace: 'atoll-system', name: AGENT_STATE_CONFIG_MAP });
  return (state?.['data'] ?? {}) as Record<string, string>;
};

describe('enrolment', () => {
  it('waits for approval, keeps its key, and is known from then on', async () => {
    const world = await startWorld();
    world.hub.enrolment = 'PEND';
    const first = runLink(world);
    await until('the Enrol came', () => world.hub.enrols.length === 1);
    expect(first.state()).toMatchObject({ enrolled: false, connected: false });
    world.hub.approve();
    const { hello } = await world.hub.nextSession();
    expect(hello).toMatchObject({ appliedRevision: 0, specDigest: EMPTY_DIGEST, agentVersion: '0.1.0' });
    expect(hello.fingerprint).toMatch(/^kubeSystemUid:[0-9a-f-]{36}$/);
    const secret = await world.client.get(RESOURCE.secret, { namespace: 'atoll-system', name: AGENT_IDENTITY_SECRET });
    expect(Object.keys(secret['data'] as object)).toContain('private-key');
    await first.stop();
    runLink(world, { instanceId: 'i2' });
    expect((await world.hub.nextSession()).hello.agentId).toBe(hello.agentId);
    expect(world.hub.enrols).toHaveLength(1);
  });

  it('repeats itself with the same key when the answer is lost', async () => {
    const world = await startWorld();
    world.hub.enrolment = 'PEND';
    const link = runLink(world);
    await until('the Enrol came', () => world.hub.enrols.length === 1);
    await link.stop();
    runLink(world);
    await until('it came again', () => world.hub.enrols.length === 2);
    expect(world.hub.enrols[0]?.publicKey).toBe(world.hub.enrols[1]?.publicKey);
  });

  it('uses a new token only after the hub has dropped the old identity', async () => {
    const world = await startWorld();
    const first = runLink(world);
    const { hello } = await world.hub.nextSession();
    await first.stop();
    const second = runLink(world, { enrolmentToken: 'token-2' });
    expect((await world.hub.nextSession()).hello.agentId).toBe(hello.agentId);
    await second.stop();
    world.hub.agents.clear();
    const third = runLink(world, { enrolmentToken: 'token-2' });
    await until('it was refused', () => /AGENT_REVOKED/.test(third.state().lastFailure ?? ''));
    const again = await world.hub.nextSession();
    expect(again.hello.agentId).not.toBe(hello.agentId);
    expect(world.hub.enrols.map((enrol) => enrol.token)).toEqual(['token-1', 'token-2']);
  });

  it('changes the key after a month, and signs with the new one from then on', async () => {
    const world = await startWorld();
    const first = runLink(world);
    const { hello } = await world.hub.nextSession();
    const oldKey = world.hub.agents.get(hello.agentId);
    await first.stop();
    const at = { namespace: 'atoll-system', name: AGENT_IDENTITY_SECRET };
    const aMonthAgo = Buffer.from(new Date(Date.now() - 31 * 24 * 3600_000).toISOString()).toString('base64');
    await world.client.patchMerge(RESOURCE.secret, at, { data: { 'key-made-at': aMonthAgo } });
    const second = runLink(world);
    await (await world.hub.nextSession()).connection.next('KeyRotation');
    expect(world.hub.agents.get(hello.agentId)).not.toBe(oldKey);
    await until('the new key is kept', async () => {
      const { 'next-private-key': next } = (await world.client.get(RESOURCE.secret, at))['data'] as Record<
        string,
        string
      >;
      return next === undefined;
    });
    await second.stop();
    runLink(world);
    const { connection, hello: last } = await world.hub.nextSession();
    expect(last.agentId).toBe(hello.agentId);
    await connection.next('StatusBatch');
    expect(connection.received.filter((message) => message.type === 'KeyRotation')).toEqual([]);
  });

  it('speaks to no hub of another CA, and signs for no other address', async () => {
    const world = await startWorld();
    const stranger = await FakeHub.start();
    const fooled = runLink(world, { hubAddress: stranger.address });
    await until('TLS failed', () => /certificate|issuer|verify/.test(fooled.state().lastFailure ?? ''));
    expect(stranger.connections).toHaveLength(0);
    await stranger.kill();
    await fooled.stop();
    world.hub.audience = 'other.example.com:8444';
    const relayed = runLink(world);
    await until('it refused', () => /other\.example\.com/.test(relayed.state().lastFailure ?? ''));
    expect(world.hub.connections.flatMap((connection) => connection.received)).toEqual([]);
  });
});

describe('rule 14: a definition that changes under a session', () => {
  it('is told by a new Hello, since the hub withholds by it', async () => {
    const world = await startWorld();
    world.hub.limits = { ...world.hub.limits, heartbeatIntervalMs: 50 };
    let crdSchemaHash = 'old';
    world.run(new Link(world.settings(), { ...world.parts(), crdSchemaHash: () => crdSchemaHash }));
    expect((await world.hub.nextSession()).hello.crdSchemaHash).toBe('old');
    // Not known at the moment: nothing has changed.
    crdSchemaHash = '';
    await sleep(150);
    expect(world.hub.sessions).toHaveLength(1);
    crdSchemaHash = 'new';
    expect((await world.hub.nextSession()).hello.crdSchemaHash).toBe('new');
  });
});

describe('a session that breaks', () => {
  it('between the write and the ack costs nothing: the next one acks without writing', async () => {
    const world = await startWorld();
    const link = runLink(world);
    const session = await world.hub.nextSession();
    session.connection.send('Delta', { revision: 3, upserts: [buildUpsert('a', 1)], tombstones: [] });
    await until('it was written', async () => (await world.find('a')) !== undefined);
    // As kill -9: nothing more is written, the state is not kept.
    world.fence = false;
    await world.hub.kill();
    await link.stop();
    expect((await stateOf(world))['appliedRevision'] ?? '0').toBe('0');
    world.fence = true;
    await world.hub.listen();
    runLink(world);
    const second = await world.hub.nextSession();
    expect(second.hello.appliedRevision).toBe(0);
    const ack = await sendDelta(second, 3, [buildUpsert('a', 1)]);
    expect(describeOutcomes(ack)).toEqual(['a APPLIED']);
    expect(world.writesTo('a')).toBe(1);
  });

  it('is followed by one that tells every status anew to a hub of before, from counter 0', async () => {
    const world = await startWorld();
    runLink(world);
    const first = await world.hub.nextSession();
    await sendDelta(first, 1, [buildUpsert('a', 1), buildUpsert('b', 1)]);
    await world.hub.kill();
    await world.edit('a', { size: 5 });
    await sleep(1_500);
    await world.hub.listen();
    const startedAt = Date.now();
    const { connection } = await world.hub.nextSession();
    expect(await connection.next('StatusBatch')).toMatchObject({ counter: 0, items: [] });
    const batch = await connection.next('StatusBatch', (one) => one.complete === true);
    expect(batch.counter).toBe(1);
    expect(batch.items.map((item) => item.name).sort()).toEqual(['a', 'b']);
    expect(batch.items.find((item) => item.name === 'a')).toMatchObject({
      foreignFields: [{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' }],
    });
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });

  it('half-open is noticed by its silence', async () => {
    const world = await startWorld();
    const proxy = await FaultProxy.start('127.0.0.1', world.hub.port);
    const link = runLink(world, { hubAddress: proxy.address });
    await world.hub.nextSession();
    // Longer than a silent hub is borne: pings keep the session.
    await sleep(2_500);
    expect(link.state().connected).toBe(true);
    proxy.freeze();
    await until('it was noticed', () => !link.state().connected);
    proxy.thaw();
    await world.hub.nextSession();
    await until('it is connected again', () => link.state().connected);
    await link.stop();
    await proxy.stop();
  });

  it.each(['Reconnect', 'Drain'] as const)('by %s comes again when the hub said', async (type) => {
    const world = await startWorld();
    const waits: unknown[] = [];
    const log: LinkParts['log'] = (_level, _message, fields) => void waits.push(fields?.['redialInMs']);
    world.run(new Link(world.settings(), { ...world.parts(), log }));
    const { connection } = await world.hub.nextSession();
    const askedAt = Date.now();
    connection.send(type, { afterMs: 700 });
    await sleep(300);
    // Gone earlier than it said: the time still counts.
    connection.close();
    await world.hub.nextSession();
    expect(Date.now() - askedAt).toBeGreaterThanOrEqual(690);
    // Counted from the request, not from the end: it would be 700; without the request it would be a second at least.
    expect(waits.at(-1)).toBeLessThan(700);
  });

  it('by a take-over is begun again by the holder of the Lease alone, whatever the hub had asked for', async () => {
    const world = await startWorld();
    const logged: unknown[] = [];
    const log: LinkParts['log'] = (_level, _message, fields) => void logged.push(fields?.['code']);
    world.run(new Link(world.settings(), { ...world.parts(), log }));
    const first = await world.hub.nextSession();
    first.connection.close(4001);
    const second = await world.hub.nextSession();
    expect(logged).not.toContain('SESSION_TAKEN_OVER');
    world.fence = false;
    second.connection.send('Drain', { afterMs: 100_000 });
    second.connection.close(4001);
    await until('it holds back', () => logged.includes('SESSION_TAKEN_OVER'));
    await sleep(1_500);
    expect(world.hub.sessions).toHaveLength(2);
    world.fence = true;
    await world.hub.nextSession();
  });

  it('without a take-over is begun again also by a process that cannot renew its Lease: it tells so', async () => {
    const world = await startWorld();
    runLink(world);
    const first = await world.hub.nextSession();
    world.fence = false;
    first.connection.close();
    await world.hub.nextSession();
  });

  it('by a terminal refusal is not tried again before a minute has passed', async () => {
    const world = await startWorld();
    const link = runLink(world);
    const { connection } = await world.hub.nextSession();
    world.hub.refusal = { code: 'AGENT_QUARANTINED', message: 'two of you', terminal: true };
    connection.close();
    await until('it was refused', () => /AGENT_QUARANTINED/.test(link.state().lastFailure ?? ''));
    const count = world.hub.connections.length;
    await sleep(2_500);
    expect(world.hub.connections).toHaveLength(count);
  });
});

describe("the member's API server away", () => {
  it('is told at once, holds the revision back, and nothing is called gone', async () => {
    const world = await startWorld();
    const link = runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    await session.connection.next('StatusBatch', (batch) => batch.items.some((item) => item.name === 'a'));
    await world.kube.stop();
    await session.connection.next('Heartbeat', ({ inventory }) => inventory === 'UNKNOWN');
    session.connection.send('Delta', { revision: 2, upserts: [buildUpsert('b', 1)], tombstones: [] });
    await sleep(1_500);
    expect(session.connection.received.filter((message) => message.type === 'DesiredAck')).toHaveLength(1);
    expect(link.state()).toMatchObject({ connected: true, appliedRevision: 1 });
    await world.kube.listen();
    expect(describeOutcomes(await session.connection.next('DesiredAck'))).toEqual(['b APPLIED']);
    expect(session.connection.received.findLast((one) => one.type === 'Heartbeat')?.payload).toEqual({
      inventory: 'SYNCED',
    });
    const items = session.connection.received.flatMap((one) => (one.type === 'StatusBatch' ? one.payload.items : []));
    expect(items.filter((item) => item.gone)).toEqual([]);
  });

  it('answering 500 or cutting the line in the middle of a write leaves the object for the next try', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    const isPatch = (request: { method: string; path: string }): boolean =>
      request.method === 'PATCH' && request.path.endsWith('/a');
    world.kube.inject({ when: isPatch, act: { kind: 'status', code: 500, reason: 'InternalError' } });
    world.kube.inject({ when: isPatch, act: { kind: 'drop-after' } });
    const ack = await sendDelta(session, 1, [buildUpsert('a', 1)]);
    expect(describeOutcomes(ack)).toEqual(['a APPLIED']);
    expect(ack.digest).toBe(digestOf([buildUpsert('a', 1)]));
  });
});

describe('a process without a young lease', () => {
  it('writes nothing, and acks nothing', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    world.fence = false;
    const before = world.kube.requests.filter((request) => request.method !== 'GET').length;
    session.connection.send('Delta', {
      revision: 1,
      upserts: [buildUpsert('a', 1)],
      tombstones: [buildTombstone('z')],
    });
    await sleep(1_500);
    expect(world.kube.requests.filter((request) => request.method !== 'GET')).toHaveLength(before);
    expect(session.connection.received.filter((message) => message.type === 'DesiredAck')).toEqual([]);
    world.fence = true;
    expect(describeOutcomes(await session.connection.next('DesiredAck'))).toEqual(['z DELETED', 'a APPLIED']);
  });
});

describe('status and events', () => {
  it('keep to the window, and merge what changes meanwhile', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    session.connection.acksStatus = false;
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    for (let size = 4; size < 9; size += 1) {
      await world.edit('a', { size });
      await sleep(400);
    }
    const batches = session.connection.received.flatMap((one) => (one.type === 'StatusBatch' ? [one.payload] : []));
    expect(batches.length).toBe(2);
    session.connection.send('StatusAck', { counter: 0 });
    const last = await session.connection.next('StatusBatch', (batch) => batch.counter === 2);
    expect(last.items).toHaveLength(1);
    expect(last.items[0]?.foreignFields).toMatchObject([{ path: 'spec.size', liveValue: '8' }]);
  });

  it('are told anew when the hub asks, and rest when it asks for less', async () => {
    const world = await startWorld();
    runLink(world);
    const { connection } = await world.hub.nextSession();
    await connection.next('StatusBatch', (batch) => batch.complete === true);
    connection.send('Slow', { pauseMs: 800 });
    connection.send('StatusResync', {});
    const askedAt = Date.now();
    await connection.next('StatusBatch', (batch) => batch.complete === true);
    expect(Date.now() - askedAt).toBeGreaterThanOrEqual(750);
  });

  it('carry an event until it is acked, over sessions, once with its count', async () => {
    const world = await startWorld();
    runLink(world);
    const first = await world.hub.nextSession();
    first.connection.acksStatus = false;
    const event = {
      key: { namespace: 'shop', name: 'a' },
      severity: 'Warning',
      reason: 'Degraded',
      message: 'm',
    } as const;
    const at = '2026-11-30T05:00:00.000Z';
    world.tellEvent({ ...event, first: at, last: at, count: 1 });
    world.tellEvent({ ...event, first: at, last: at, count: 2 });
    expect((await first.connection.next('EventBatch')).items).toHaveLength(1);
    first.connection.terminate();
    const second = await world.hub.nextSession();
    const batch = await second.connection.next('EventBatch');
    expect(batch).toMatchObject({ counter: 0, items: [{ name: 'a', count: 2 }] });
  });
});
