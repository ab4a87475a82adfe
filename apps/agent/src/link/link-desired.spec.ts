/**
 * What the hub wants, applied against a fake API server over real HTTP by an agent linked to a fake hub over real TLS: the
 * rules of 03 about truth, order, deletion and drift, with messages that come twice, late, or in another order.
 */
import { AGENT_STATE_CONFIG_MAP, ANNOTATION } from '#domain';
import type { RedisClusterObject } from '#domain';
import { RESOURCE } from '#kube';
import { COPIED_CONDITION, EMPTY_DIGEST, digestOf, freezeSpec } from '#protocol';
import type { Tombstone } from '#protocol';
import { LinkWorld, buildTombstone, buildUpsert, describeOutcomes, sendDelta } from '#testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Link } from './index.ts';
import type { LinkSettings } from './index.ts';

let world: LinkWorld;
afterEach(() => world.stop());

async function startWorld(): Promise<LinkWorld> {
  world = await LinkWorld.start();
  return world;
}
const runLink = (at: LinkWorld, changes: Partial<LinkSettings> = {}): Link =>
  at.run(new Link({ ...at.settings(), ...changes }, at.parts()));

vi.setConfig({ testTimeout: 20_000 });

describe('what the hub wants', () => {
  it('is applied with its annotations in one write, and acked with the digest after it', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    const ack = await sendDelta(session, 7, [buildUpsert('a', 1), buildUpsert('b', 4)]);
    expect(describeOutcomes(ack)).toEqual(['a APPLIED', 'b APPLIED']);
    expect(ack.revision).toBe(7);
    expect(ack.digest).toBe(digestOf([buildUpsert('a', 1), buildUpsert('b', 4)]));
    const object = await world.find('b');
    expect(object?.spec).toMatchObject({ size: 3 });
    expect(ack.outcomes[1]?.uid).toBe(object?.metadata.uid);
    expect(object?.metadata.annotations).toEqual({
      [ANNOTATION.hubUid]: 'b',
      [ANNOTATION.hubName]: 'shop/b',
      [ANNOTATION.hubGeneration]: '4',
      [ANNOTATION.specHash]: buildUpsert('b', 4).specHash,
      [ANNOTATION.pushedBy]: 'CLUSTER',
    });
    expect(world.writesTo('b')).toBe(1);
    const owners = (object?.metadata.managedFields ?? []).map((entry) => `${entry.manager} ${entry.operation}`);
    expect(owners).toEqual(['atoll-hub Apply']);
  });

  it('is written once when it comes twice, and what is old is not written at all', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    const first = await sendDelta(session, 3, [buildUpsert('a', 5)]);
    const again = await sendDelta(session, 3, [buildUpsert('a', 5)]);
    expect(again.outcomes).toEqual(first.outcomes);
    const late = await sendDelta(session, 2, [buildUpsert('a', 4, { size: 5 })]);
    expect(describeOutcomes(late)).toEqual(['a REJECTED GENERATION_AHEAD']);
    const reused = await sendDelta(session, 4, [buildUpsert('a', 5, { size: 7 })]);
    expect(describeOutcomes(reused)).toEqual(['a REJECTED GENERATION_REUSED']);
    expect(reused.digest).toBe(first.digest);
    expect((await world.find('a'))?.spec.size).toBe(3);
    expect(world.writesTo('a')).toBe(1);
    session.connection.terminate();
    expect((await world.hub.nextSession()).hello).toMatchObject({ appliedRevision: 4, specDigest: first.digest });
  });

  it('is not confused by a copy of its YAML under another name', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    const first = await sendDelta(session, 1, [buildUpsert('a', 1)]);
    const original = await world.find('a');
    if (original === undefined) throw new Error('it was not applied');
    const { annotations = {} } = original.metadata;
    await world.client.create({ ...original, metadata: { namespace: 'shop', name: 'copy', annotations } });
    const isOfCopy = ({ name }: { readonly name: string }): boolean => name === 'copy';
    const told = await session.connection.next('StatusBatch', ({ items }) => items.some(isOfCopy));
    const item = told.items.find(isOfCopy);
    expect(item?.hubUid).toBeUndefined();
    expect(item?.conditions).toMatchObject([{ type: COPIED_CONDITION }]);
    // Counted once, and the name is taken by somebody's own object.
    const second = await sendDelta(session, 2, [buildUpsert('b', 1, { name: 'copy' })]);
    expect(describeOutcomes(second)).toEqual(['b REJECTED ALREADY_EXISTS']);
    expect(second.digest).toBe(first.digest);
    await world.client.delete(RESOURCE.redisCluster, { namespace: 'shop', name: 'copy' }, {});
    const after = await session.connection.next('DesiredAck');
    // The end of the copy is no end of the original: the waiting one is made, nothing is told as deleted.
    expect(describeOutcomes(after)).toEqual(['b APPLIED']);
    const outcomes = session.connection.received.flatMap((one) =>
      one.type === 'DesiredAck' ? one.payload.outcomes : [],
    );
    expect(outcomes.filter(({ state }) => state === 'DELETED_LOCALLY')).toEqual([]);
  });

  it('removes a field that the next generation no longer has', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    const less = freezeSpec({ engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' });
    await sendDelta(session, 2, [buildUpsert('a', 2, { spec: less.text, specHash: less.hash, create: false })]);
    expect((await world.find('a'))?.spec).toEqual({ engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' });
  });

  it('respects an edit, says what it left, and takes it back only when asked', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    await world.edit('a', { size: 5, config: { 'maxmemory-policy': 'noeviction' } });
    const mode = freezeSpec({ engine: { type: 'Redis', version: '8.0' }, mode: 'Replication', size: 3 });
    const next = { spec: mode.text, specHash: mode.hash, create: false };
    const ack = await sendDelta(session, 2, [buildUpsert('a', 2, next)]);
    expect(describeOutcomes(ack)).toEqual(['a CONFLICT']);
    expect(ack.outcomes[0]?.contested).toEqual([{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' }]);
    expect((await world.find('a'))?.spec).toMatchObject({ size: 5, mode: 'Replication' });
    expect(ack.digest).toBe(digestOf([{ hubUid: 'a', hubGeneration: 2, specHash: mode.hash }]));
    // Told again, nothing is written, and the field that the person added is no conflict.
    expect((await sendDelta(session, 2, [buildUpsert('a', 2, next)])).outcomes).toEqual(ack.outcomes);
    const revertFields = ['spec.size', 'spec.config'];
    const reverted = await sendDelta(session, 3, [buildUpsert('a', 3, { ...next, revertFields })]);
    expect(describeOutcomes(reverted)).toEqual(['a APPLIED']);
    expect((await world.find('a'))?.spec).toEqual({
      engine: { type: 'Redis', version: '8.0' },
      mode: 'Replication',
      size: 3,
    });
  });

  it('takes our own annotations back from anybody, but no spec field with them', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    await world.edit('a', { size: 5 });
    const annotations = { [ANNOTATION.hubGeneration]: '0' };
    await world.client.patchMerge(
      RESOURCE.redisCluster,
      { namespace: 'shop', name: 'a' },
      { metadata: { annotations } },
      { fieldManager: 'kubectl-annotate' },
    );
    const ack = await sendDelta(session, 2, [buildUpsert('a', 2, { create: false })]);
    expect(describeOutcomes(ack)).toEqual(['a CONFLICT']);
    const object = await world.find('a');
    expect(object?.metadata.annotations?.[ANNOTATION.hubGeneration]).toBe('2');
    expect(object?.spec.size).toBe(5);
  });

  it('never overwrites a hand-made object, and adopts it with its data when asked', async () => {
    const world = await startWorld();
    const made = await world.client.create<RedisClusterObject>(
      {
        apiVersion: 'redis.atoll.dev/v1alpha1',
        kind: 'RedisCluster',
        metadata: { namespace: 'shop', name: 'a' },
        spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
      },
      { fieldManager: 'kubectl-create' },
    );
    runLink(world);
    const session = await world.hub.nextSession();
    expect(describeOutcomes(await sendDelta(session, 1, [buildUpsert('a', 1)]))).toEqual(['a REJECTED ALREADY_EXISTS']);
    expect((await world.find('a'))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    const ack = await sendDelta(session, 2, [buildUpsert('a', 2, { adopt: true })]);
    expect(describeOutcomes(ack)).toEqual(['a CONFLICT']);
    const object = await world.find('a');
    expect(object?.metadata.annotations).toMatchObject({ [ANNOTATION.dataSetId]: made.metadata.uid });
    expect(object?.spec).toMatchObject({ mode: 'Standalone', size: 3 });
  });

  it('is refused with the sentence of the API server, and holds up nothing else', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    const of = (name: string) => (request: { method: string; path: string }) =>
      request.method === 'PATCH' && request.path.endsWith(`/${name}`);
    world.kube.inject({ when: of('a'), act: { kind: 'status', code: 422, reason: 'Invalid' } });
    world.kube.inject({ when: of('c'), act: { kind: 'status', code: 403, reason: 'Forbidden' } });
    const ack = await sendDelta(session, 5, [buildUpsert('a', 1), buildUpsert('b', 1), buildUpsert('c', 1)]);
    expect(describeOutcomes(ack)).toEqual(['a REJECTED SPEC_REJECTED', 'b APPLIED', 'c REJECTED NOT_PERMITTED_HERE']);
    expect(ack.outcomes[0]).toMatchObject({ retryable: false });
    expect(ack.revision).toBe(5);
  });

  it('is not created without create, and a deletion by hand is told at once', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    const ack = await sendDelta(session, 1, [buildUpsert('x', 1, { create: false }), buildUpsert('a', 1)]);
    expect(describeOutcomes(ack)).toEqual(['x DELETED_LOCALLY DELETED_LOCALLY', 'a APPLIED']);
    await session.connection.next('StatusBatch', (batch) => batch.items.some((item) => item.name === 'a'));
    await world.client.delete(RESOURCE.redisCluster, { namespace: 'shop', name: 'a' });
    const told = await session.connection.next('DesiredAck');
    expect(describeOutcomes(told)).toEqual(['a DELETED_LOCALLY DELETED_LOCALLY']);
    expect(told).toMatchObject({ revision: 1, digest: EMPTY_DIGEST });
    await session.connection.next('StatusBatch', (batch) =>
      batch.items.some((item) => item.name === 'a' && item.gone === true),
    );
  });

  it('waits for a name that another object of the hub holds, and goes on when it is free', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    const finalizers = ['redis.atoll.dev/children'];
    const at = { namespace: 'shop', name: 'a' };
    await world.client.patchMerge(RESOURCE.redisCluster, at, { metadata: { finalizers } });
    const ack = await sendDelta(session, 2, [buildUpsert('b', 1, { name: 'a' })], [buildTombstone('a')]);
    expect(describeOutcomes(ack)).toEqual(['a WAITING', 'b WAITING NAME_TAKEN']);
    await world.client.patchMerge(RESOURCE.redisCluster, at, { metadata: { finalizers: null } });
    const later = [await session.connection.next('DesiredAck')];
    if (later[0]?.outcomes.length === 1) later.push(await session.connection.next('DesiredAck'));
    expect(later.flatMap(describeOutcomes).sort()).toEqual(['a DELETED', 'b APPLIED']);
    expect(later.at(-1)?.digest).toBe(digestOf([buildUpsert('b', 1)]));
    expect((await world.find('a'))?.metadata.annotations?.[ANNOTATION.hubUid]).toBe('b');
  });
});

describe('tombstones', () => {
  it('beat an upsert that comes after them, also after a restart and with another epoch', async () => {
    const world = await startWorld();
    const first = runLink(world);
    const session = await world.hub.nextSession();
    expect(describeOutcomes(await sendDelta(session, 1, [], [buildTombstone('a')]))).toEqual(['a DELETED']);
    expect(describeOutcomes(await sendDelta(session, 2, [buildUpsert('a', 1)]))).toEqual(['a REJECTED TOMBSTONED']);
    await first.stop();
    world.hub.hubEpoch = 'epoch-2';
    runLink(world);
    const second = await world.hub.nextSession();
    expect(second.hello.hubEpoch).toBe('epoch-1');
    expect(describeOutcomes(await sendDelta(second, 1, [buildUpsert('a', 9, { adopt: true })]))).toEqual([
      'a REJECTED TOMBSTONED',
    ]);
    expect(await world.find('a')).toBeUndefined();
  });

  it('delete no more than three objects in five minutes without approval', async () => {
    const world = await startWorld();
    const link = runLink(world);
    const session = await world.hub.nextSession();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const upserts = names.map((name) => buildUpsert(name, 1));
    await sendDelta(session, 1, upserts);
    const approval = { id: 'op-1', hubUids: ['e'], expiresAt: new Date(Date.now() + 60_000).toISOString() };
    await sendDelta(session, 2, [], [buildTombstone('a'), buildTombstone('e', { approval })]);
    const ack = await sendDelta(session, 3, [], [buildTombstone('b'), buildTombstone('c')]);
    expect(describeOutcomes(ack)).toEqual(['b DELETED', 'c DELETED']);
    expect(ack.digest).toBe(digestOf([buildUpsert('d', 1)]));
    expect(describeOutcomes(await sendDelta(session, 4, [], [buildTombstone('d')]))).toEqual([
      'd REJECTED DELETE_BREAKER',
    ]);
    await link.stop();
    runLink(world);
    const second = await world.hub.nextSession();
    expect(describeOutcomes(await sendDelta(second, 5, [], [buildTombstone('d')]))).toEqual([
      'd REJECTED DELETE_BREAKER',
    ]);
    expect(await world.find('d')).toBeDefined();
  });

  it('count each delete once, however often it is tried, and none whose count could not be kept', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(
      session,
      1,
      ['a', 'b', 'c', 'd'].map((name) => buildUpsert(name, 1)),
    );
    const fail = (method: string, end: string): void => {
      const when = (request: { method: string; path: string }): boolean =>
        request.method === method && request.path.endsWith(end);
      world.kube.inject({ when, act: { kind: 'status', code: 500, reason: 'InternalError' }, times: 4 });
    };
    fail('PATCH', `/configmaps/${AGENT_STATE_CONFIG_MAP}`);
    expect(describeOutcomes(await sendDelta(session, 2, [], [buildTombstone('a')]))).toEqual(['a DELETED']);
    fail('DELETE', '/redisclusters/b');
    expect(describeOutcomes(await sendDelta(session, 3, [], [buildTombstone('b')]))).toEqual(['b DELETED']);
    expect(describeOutcomes(await sendDelta(session, 4, [], [buildTombstone('c')]))).toEqual(['c DELETED']);
    expect(describeOutcomes(await sendDelta(session, 5, [], [buildTombstone('d')]))).toEqual([
      'd REJECTED DELETE_BREAKER',
    ]);
  });

  it('delete none of more than three that come at once without approval, and say so', async () => {
    const world = await startWorld();
    const link = runLink(world);
    const session = await world.hub.nextSession();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const upserts = names.map((name) => buildUpsert(name, 1));
    await sendDelta(session, 1, upserts);
    const approve = (hubUid: string): Tombstone => {
      const approval = { id: 'op-1', hubUids: [hubUid], expiresAt: new Date(Date.now() + 60_000).toISOString() };
      return buildTombstone(hubUid, { approval });
    };
    const mass = names.slice(0, 4).map((name) => buildTombstone(name));
    const refused = names.slice(0, 4).map((name) => `${name} REJECTED DELETE_BREAKER`);
    const ack = await sendDelta(session, 2, [], [...mass, approve('e')]);
    expect(describeOutcomes(ack)).toEqual([...refused, 'e DELETED']);
    expect(link.state().refusedDeletes).toBe(4);
    expect(describeOutcomes(await sendDelta(session, 3, [], mass.slice(0, 1)))).toEqual(refused.slice(0, 1));
    const approved = names.slice(0, 4).map(approve);
    expect(describeOutcomes(await sendDelta(session, 4, [], approved))).toEqual(
      names.slice(0, 4).map((name) => `${name} DELETED`),
    );
  });

  it('let an object go with every field and its data', async () => {
    const world = await startWorld();
    runLink(world);
    const session = await world.hub.nextSession();
    await sendDelta(session, 1, [buildUpsert('a', 1)]);
    const before = await world.find('a');
    const ack = await sendDelta(session, 2, [], [buildTombstone('a', { operation: 'ORPHAN' })]);
    expect(describeOutcomes(ack)).toEqual(['a ORPHANED']);
    expect(ack.digest).toBe(EMPTY_DIGEST);
    const after = await world.find('a');
    expect(after?.spec).toEqual(before?.spec);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.metadata.annotations).toEqual({ [ANNOTATION.dataSetId]: 'a' });
  });
});

describe('snapshots and inventories', () => {
  it('call UNCLAIMED what a whole snapshot lacks, and delete nothing', async () => {
    const world = await startWorld();
    runLink(world);
    const first = await world.hub.nextSession();
    await sendDelta(first, 9, [buildUpsert('a', 1), buildUpsert('b', 1)]);
    world.hub.mode = 'SNAPSHOT';
    first.connection.terminate();
    const { connection } = await world.hub.nextSession();
    connection.send('SnapshotBegin', { revision: 4, objectCount: 1 });
    connection.send('SnapshotChunk', { upserts: [buildUpsert('a', 1)] });
    connection.send('SnapshotEnd', { revision: 4, digest: digestOf([buildUpsert('a', 1)]), tombstones: [] });
    const ack = await connection.next('DesiredAck');
    expect(describeOutcomes(ack)).toEqual(['a APPLIED']);
    expect(ack).toMatchObject({ revision: 4, digest: digestOf([buildUpsert('a', 1)]) });
    const isTold = (item: { name: string; unclaimed?: boolean }): boolean =>
      item.name === 'b' && item.unclaimed === true;
    await connection.next('StatusBatch', (batch) => batch.items.some(isTold));
    expect(await world.find('b')).toBeDefined();
    world.hub.mode = 'DELTA';
    connection.terminate();
    expect((await world.hub.nextSession()).hello).toMatchObject({ appliedRevision: 4, specDigest: ack.digest });
  });

  it('keep as managed what the hub holds back from deletion', async () => {
    const world = await startWorld();
    runLink(world);
    const first = await world.hub.nextSession();
    const both = [buildUpsert('a', 1), buildUpsert('b', 1)];
    await sendDelta(first, 9, both);
    world.hub.mode = 'SNAPSHOT';
    first.connection.terminate();
    const { connection } = await world.hub.nextSession();
    connection.send('SnapshotBegin', { revision: 4, objectCount: 1 });
    connection.send('SnapshotChunk', { upserts: [buildUpsert('a', 1)] });
    const held = both.filter(({ name }) => name === 'b').map(({ hubUid }) => hubUid);
    connection.send('SnapshotEnd', { revision: 4, digest: digestOf([buildUpsert('a', 1)]), tombstones: [], held });
    const ack = await connection.next('DesiredAck');
    expect(describeOutcomes(ack)).toEqual(['a APPLIED']);
    expect(ack).toMatchObject({ revision: 4, digest: digestOf(both) });
    expect(await world.find('b')).toBeDefined();
  });

  it.each([
    ['its digest differs', { objectCount: 1, digest: EMPTY_DIGEST }],
    ['an object is missing', { objectCount: 2, digest: digestOf([buildUpsert('a', 1)]) }],
  ])('do not count when %s', async (_, { objectCount, digest }) => {
    const world = await startWorld();
    world.hub.mode = 'SNAPSHOT';
    runLink(world);
    const { connection } = await world.hub.nextSession();
    connection.send('SnapshotBegin', { revision: 4, objectCount });
    connection.send('SnapshotChunk', { upserts: [buildUpsert('a', 1)] });
    connection.send('SnapshotEnd', { revision: 4, digest, tombstones: [buildTombstone('a')] });
    await connection.closed;
    expect(connection.received.filter((message) => message.type === 'DesiredAck')).toEqual([]);
    expect((await world.hub.nextSession()).hello.appliedRevision).toBe(0);
    expect(await world.find('a')).toBeDefined();
  });

  it('tell everything that is here when the hub must compare', async () => {
    const world = await startWorld();
    runLink(world);
    const first = await world.hub.nextSession();
    await sendDelta(first, 1, [buildUpsert('a', 2)]);
    world.hub.mode = 'INVENTORY';
    first.connection.terminate();
    const { connection } = await world.hub.nextSession();
    const { hubUid, hubGeneration, specHash, namespace, name } = buildUpsert('a', 2);
    expect(await connection.next('InventoryChunk')).toEqual({
      objects: [{ hubUid, hubGeneration, specHash, namespace, name, unclaimed: false }],
      last: true,
    });
  });
});
