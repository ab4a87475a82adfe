import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Action, Plan, PlanResult, RedisClusterObject, RedisClusterSnapshot } from '#domain';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { FakeKubeServer, connectFakeKube, refuseUndeclared } from '#testing';
import { EventRecorder } from './event-recorder.ts';
import { ReportFeed } from './report-feed.ts';
import type { ReportedEvent } from './report-feed.ts';
import { Reporter } from './reporter.ts';
import { StatusWriter } from './write-status.ts';

const at = { namespace: 'shop', name: 'cache' };
const evict: Action = {
  kind: 'EvictPod',
  reason: 'Restart',
  message: 'Pod cache-1 restarts.',
  disruptive: true,
  pod: 'cache-1',
  podUid: 'u',
};

let server: FakeKubeServer;
let client: KubeClient;
let feed: ReportFeed;
let reporter: Reporter;
let failures: string[];
let told: ReportedEvent[];
let nowMs: number;
let mayWrite: boolean;
let ownsNamespace: boolean;

const readLive = (): Promise<RedisClusterObject> => client.get<RedisClusterObject>(RESOURCE.redisCluster, at);
const writesTo = (part: string): number =>
  server.requests.filter((request) => request.method !== 'GET' && request.path.includes(part)).length;
const events = async () => (await client.listAll(RESOURCE.event, { namespace: 'shop' })).items;

const pass = async (resource: RedisClusterObject, phase: string, result: PlanResult = { done: [] }): Promise<void> => {
  const condition = { type: 'Ready', status: 'True', reason: phase, message: `It is ${phase}.`, observedGeneration: 1 };
  const status = { phase, conditions: [condition], readyPods: 1, size: 1, pods: [], sentinels: [], dataSetId: 'd' };
  const trail = [{ rule: 'gate', reason: 'NotOwner', message: 'Somebody else owns it.' }];
  const plan = { actions: [], trail, status: { ...status, renderVersion: 1 } } as unknown as Plan;
  const snapshot = { resource, redis: {}, ownsNamespace } as unknown as RedisClusterSnapshot;
  await reporter.report({ snapshot, plan, result, failuresBefore: 0 });
};

beforeEach(async () => {
  nowMs = Date.parse('2026-11-30T05:00:00Z');
  mayWrite = true;
  ownsNamespace = true;
  told = [];
  failures = [];
  server = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(server), { userAgent: 'test/0' });
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  feed = new ReportFeed();
  feed.onEvent((event) => told.push(event));
  const recorder = new EventRecorder({
    client,
    feed,
    reportingInstance: 'pod-1',
    nowMs: () => nowMs,
    onFailure: (_error, namespace) => failures.push(namespace),
  });
  reporter = new Reporter({
    writer: new StatusWriter({ client, clock }),
    events: recorder,
    feed,
    clock,
    mayWrite: () => mayWrite,
  });
  await client.create({
    apiVersion: 'redis.atoll.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: at,
    spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
  });
});
afterEach(async () => {
  await client.close();
  await server.stop();
});

describe('Reporter', () => {
  it('writes the status once for one picture, also while the cache still shows the object of before', async () => {
    const before = await readLive();
    await pass(before, 'Ready');
    await pass(before, 'Ready');
    nowMs += 60_000;
    await pass(await readLive(), 'Ready');
    expect(writesTo('/status')).toBe(1);
    expect((await readLive()).status).toMatchObject({ phase: 'Ready', ready: '1/1' });
  });

  it('forgets the numbers of what it operates no more, and says when they come and go', async () => {
    const told: string[] = [];
    feed.onNumbers(({ name }) => told.push(name));
    feed.keepNumbers(at, { keys: 1 });
    feed.keepNumbers(at, { keys: 2 });
    expect(told).toEqual([at.name]);
    ownsNamespace = false;
    await pass(await readLive(), 'Ready');
    expect(feed.numbersOf(at)).toBeUndefined();
    expect(told).toEqual([at.name, at.name]);
  });

  it('writes again what somebody else wrote over', async () => {
    await pass(await readLive(), 'Ready');
    await client.patchMerge(RESOURCE.redisCluster, at, { status: { phase: 'Mine' } }, { subresource: 'status' });
    await pass(await readLive(), 'Ready');
    expect((await readLive()).status?.phase).toBe('Ready');
  });

  it('leaves out what an older definition does not declare, writes once all the same, and tells all when it may', async () => {
    const seen = async () => reporter.complete(await readLive());
    for (const field of ['ready', 'shards']) refuseUndeclared(server, field);
    await pass(await readLive(), 'Ready');
    const refused = writesTo('/status') - 1;
    expect(refused).toBe(2);
    const stored = await readLive();
    expect(stored.status).toMatchObject({ phase: 'Ready', size: 1 });
    expect(stored.status).not.toHaveProperty('shards');
    expect(reporter.complete(stored).status).toMatchObject({ ready: '1/1', shards: [{ name: 'shard-0' }] });
    for (let i = 0; i < 3; i += 1) await pass(await seen(), 'Ready');
    expect(writesTo('/status') - refused).toBe(1);
    await pass(await seen(), 'Degraded');
    expect(writesTo('/status') - refused).toBe(2);
    server.clearFaults();
    nowMs += 601_000;
    for (let i = 0; i < 3; i += 1) await pass(await seen(), 'Degraded');
    expect((await readLive()).status).toMatchObject({ phase: 'Degraded', ready: '1/1', shards: [{ name: 'shard-0' }] });
    expect(writesTo('/status') - refused).toBe(3);
  });

  it('gives no status to an object of the same name that was made since', async () => {
    const before = await readLive();
    await client.delete(RESOURCE.redisCluster, at);
    await client.create({ ...before, metadata: { ...at }, status: undefined });
    await expect(pass(before, 'Ready')).rejects.toThrow();
    expect((await readLive()).status).toBeUndefined();
  });

  it('writes nothing when the Lease is too old', async () => {
    mayWrite = false;
    await pass(await readLive(), 'Ready');
    expect(server.requests.every((request) => request.method !== 'PATCH')).toBe(true);
    expect(await events()).toEqual([]);
  });

  it('tells an event once and then counts it, in Kubernetes at most once a minute', async () => {
    const resource = await readLive();
    await pass(resource, 'Ready', { done: [evict] });
    for (let i = 0; i < 5; i += 1) {
      nowMs += 1_000;
      await pass(resource, 'Ready', { done: [evict] });
    }
    const restarts = (await events()).filter((event) => event['reason'] === 'Restart');
    expect(restarts).toHaveLength(1);
    expect(restarts[0]).toMatchObject({ type: 'Warning', note: 'Pod cache-1 restarts.', regarding: { name: 'cache' } });
    expect(restarts[0]).not.toHaveProperty('series');
    nowMs += 60_000;
    await pass(resource, 'Ready', { done: [evict] });
    const counted = (await events()).find((event) => event['reason'] === 'Restart');
    expect(counted).toMatchObject({ series: { count: 7 } });
    expect(told.filter((event) => event.reason === 'Restart').at(-1)?.count).toBe(7);
  });

  it('writes no status for an object of another agent, and tells a person only when nobody attends to it', async () => {
    ownsNamespace = false;
    nowMs = Date.parse((await readLive()).metadata.creationTimestamp ?? '') + 5_000;
    await pass(await readLive(), 'Pending');
    expect(await events()).toEqual([]);
    nowMs += 120_000;
    await pass(await readLive(), 'Pending');
    expect((await events()).map((event) => event['reason'])).toEqual(['NotOwner']);
    await client.patchMerge(RESOURCE.redisCluster, at, { status: { phase: 'Ready' } }, { subresource: 'status' });
    nowMs += 3_600_000;
    await pass(await readLive(), 'Pending');
    expect(await events()).toHaveLength(1);
    expect(writesTo('/status')).toBe(1);
  });

  it('goes on when an event is refused', async () => {
    server.inject({
      when: ({ path }) => path.includes('/events'),
      act: { kind: 'status', code: 403 },
      times: Infinity,
    });
    await pass(await readLive(), 'Ready', { done: [evict] });
    expect((await readLive()).status?.phase).toBe('Ready');
    expect(failures.length).toBeGreaterThan(0);
    expect(new Set(failures)).toEqual(new Set([at.namespace]));
  });

  it('bounds different events of one object: a burst, then one each half minute; the hub hears all', async () => {
    const resource = await readLive();
    const fail = (index: number): Promise<void> => {
      const failure = { action: evict, reason: 'EvictPodFailed', message: `Refused, try ${index}.` };
      return pass(resource, 'Degraded', { done: [], failure });
    };
    for (let index = 0; index < 40; index += 1) await fail(index);
    expect(await events()).toHaveLength(25);
    expect(told.length).toBeGreaterThanOrEqual(40);
    nowMs += 60_000;
    for (let index = 100; index < 110; index += 1) await fail(index);
    expect(await events()).toHaveLength(27);
  });
});
