import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '#domain';
import { connectFakeKube, FakeKubeServer, StatusError } from '#testing';
import { createKubeClient } from './create-kube-client.ts';
import type { KubeClient } from './kube-client.ts';
import { KubeError } from './kube-error.ts';
import { RESOURCE } from './kube-resource.ts';
import type { Reflector, ReflectorOptions } from './reflector.ts';
import { startReflector } from './start-reflector.ts';

const configMap = (name: string, value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'n', name },
  data: { k: value },
});
const valueOf = (object: KubeObject) => (object as unknown as { data: { k: string } }).data.k;

describe('a reflector', () => {
  let server: FakeKubeServer;
  let client: KubeClient;
  let abort: AbortController;
  let skewMs: number;
  let failures: string[];
  let changes: string[];
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() + skewMs };

  beforeEach(async () => {
    server = await FakeKubeServer.start();
    client = createKubeClient(connectFakeKube(server), { userAgent: 'unit/1', requestTimeoutMs: 5_000 });
    abort = new AbortController();
    skewMs = 0;
    failures = [];
    changes = [];
  });
  afterEach(async () => {
    abort.abort();
    await client.close();
    await server.stop();
  });

  const start = (more: Partial<ReflectorOptions<string>> = {}): Reflector<string> =>
    startReflector<string>({
      client,
      resource: RESOURCE.configMap,
      clock,
      signal: abort.signal,
      project: valueOf,
      onChange: (key, now, before) => changes.push(`${key} ${before} ${now}`),
      onFailure: (error) => failures.push(error instanceof KubeError ? error.reason : String(error)),
      backoffMs: { first: 10, longest: 50 },
      inactivityTimeoutMs: 5_000,
      ...more,
    });
  const settled = async (reflector: Reflector<string>) => {
    await reflector.whenSynced();
    await expect.poll(() => reflector.watching).toBe(true);
  };
  const lists = () => server.requests.filter(({ path, isWatch }) => path === '/api/v1/configmaps' && !isWatch).length;
  const watches = () => server.requests.filter(({ isWatch }) => isWatch).length;
  const expectToFollow = async (reflector: Reflector<string>) => {
    await client.apply(configMap('proof', String(Math.random())), { fieldManager: 'm' });
    const live = await client.get(RESOURCE.configMap, { namespace: 'n', name: 'proof' });
    await expect.poll(() => reflector.get('n/proof')).toBe(valueOf(live));
  };

  it('lists in pages, then watches from there with bookmarks and a time-out', async () => {
    for (const name of ['a', 'b', 'c']) await client.create(configMap(name, name));
    const reflector = start({ pageSize: 2, random: () => 0.5 });
    await settled(reflector);
    expect([...reflector.entries()]).toEqual([
      ['n/a', 'a'],
      ['n/b', 'b'],
      ['n/c', 'c'],
    ]);
    expect(lists()).toBe(2);
    const watch = server.requests.find(({ isWatch }) => isWatch)?.query;
    expect(Object.fromEntries(watch ?? [])).toMatchObject({
      allowWatchBookmarks: 'true',
      timeoutSeconds: '450',
      resourceVersion: String(server.store.version),
    });
  });

  it.each(['drop', 'end'] as const)('watches on from where it was after a %s, without a new list', async (how) => {
    const reflector = start();
    await settled(reflector);
    await expectToFollow(reflector);
    server.watches[how]();
    await expect.poll(watches).toBe(2);
    await expectToFollow(reflector);
    expect(lists()).toBe(1);
  });

  it('survives any number of failures of list and watch', async () => {
    server.inject({ when: ({ isWatch }) => !isWatch, act: { kind: 'status', code: 500 }, times: 3 });
    server.inject({ when: ({ isWatch }) => isWatch, act: { kind: 'drop' }, times: 3 });
    server.inject({ when: ({ isWatch }) => isWatch, act: { kind: 'text', text: '<html>\n' }, times: 2 });
    const reflector = start();
    await settled(reflector);
    await expectToFollow(reflector);
    expect(failures).toEqual(expect.arrayContaining(['InternalError', 'CLOSED', 'MALFORMED']));
    expect(failures.length).toBeGreaterThanOrEqual(8);
  });

  it('lists again after 410, and tells what vanished meanwhile', async () => {
    await client.create(configMap('gone', '1'));
    await client.create(configMap('kept', '1'));
    const reflector = start();
    await settled(reflector);
    server.watches.freeze();
    await client.delete(RESOURCE.configMap, { namespace: 'n', name: 'gone' });
    await client.patchMerge(RESOURCE.configMap, { namespace: 'n', name: 'kept' }, { data: { k: '2' } });
    server.store.compact();
    server.watches.thaw();
    server.watches.drop();
    await expect.poll(() => reflector.get('n/gone')).toBeUndefined();
    expect(reflector.get('n/kept')).toBe('2');
    expect(changes).toEqual(expect.arrayContaining(['n/gone 1 undefined', 'n/kept 1 2']));
    expect(failures).toContain('Expired');
    await expectToFollow(reflector);
  });

  it('takes an error inside the stream as the end of the watch', async () => {
    const reflector = start();
    await settled(reflector);
    server.watches.sendError(new StatusError(500, 'InternalError', 'etcd is away'));
    await expect.poll(() => failures).toEqual(['InternalError']);
    await expectToFollow(reflector);
  });

  it('lists again when versions go back, as after a restored backup', async () => {
    const reflector = start();
    await settled(reflector);
    await expectToFollow(reflector);
    const before = lists();
    server.watches.sendBookmarks(1);
    await expect.poll(() => failures).toEqual(['Expired']);
    await expect.poll(lists).toBe(before + 1);
  });

  it('resumes from the last bookmark', async () => {
    const reflector = start();
    await settled(reflector);
    await client.create({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'n', name: 'other' } });
    server.watches.sendBookmarks();
    const version = String(server.store.version);
    await new Promise((resolve) => setTimeout(resolve, 50));
    server.watches.drop();
    await expect.poll(() => server.requests.at(-1)?.query.get('resourceVersion')).toBe(version);
    expect(reflector.watching || failures.length > 0).toBe(true);
  });

  it('reads events whose bytes come one at a time', async () => {
    const reflector = start();
    await settled(reflector);
    server.watches.pieceBytes = 1;
    await client.create(configMap('a', 'grüße 🪸'));
    await expect.poll(() => reflector.get('n/a')).toBe('grüße 🪸');
    expect(failures).toEqual([]);
  });

  it('leaves a connection that has gone silent', async () => {
    const reflector = start({ inactivityTimeoutMs: 150 });
    await settled(reflector);
    server.watches.freeze();
    await expect.poll(() => failures).toContain('TIMEOUT');
    server.watches.thaw();
    await expectToFollow(reflector);
  });

  it('does not spin when the server ends every watch at once', async () => {
    server.inject({ when: ({ isWatch }) => isWatch, act: { kind: 'text', text: '' }, times: Infinity });
    const reflector = start({ backoffMs: { first: 20, longest: 100 } });
    await reflector.whenSynced();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(watches()).toBeGreaterThan(2);
    expect(watches()).toBeLessThan(30);
  });

  it('waits as long as a throttling server asks', async () => {
    server.inject({ when: () => true, act: { kind: 'status', code: 429, retryAfterSeconds: 1 } });
    const startedAtMs = performance.now();
    await start().whenSynced();
    expect(performance.now() - startedAtMs).toBeGreaterThan(950);
  });

  it('calls its picture old while the server is away, and lists anew when it is back', async () => {
    const reflector = start();
    expect(reflector.isStale(1_000_000)).toBe(true);
    await settled(reflector);
    expect(reflector.isStale(1_000)).toBe(false);
    await server.stop();
    await expect.poll(() => reflector.watching).toBe(false);
    skewMs += 20_000;
    expect(reflector.isStale(10_000)).toBe(true);
    expect(reflector.isStale(60_000)).toBe(false);
    expect(reflector.synced).toBe(true);
    const before = lists();
    await server.listen();
    await expect.poll(() => reflector.isStale(10_000)).toBe(false);
    expect(lists()).toBeGreaterThan(before);
    await expectToFollow(reflector);
  });

  it('calls its picture old when even an open watch has been silent for longer than its limit', async () => {
    const reflector = start({ inactivityTimeoutMs: 30_000 });
    await settled(reflector);
    skewMs += 29_000;
    expect(reflector.isStale(1_000)).toBe(false);
    skewMs += 2_000;
    expect(reflector.isStale(1_000)).toBe(true);
  });

  it('drops what the projection leaves out, and keeps the last picture when the projection throws', async () => {
    const project = (object: KubeObject) => {
      if (valueOf(object) === 'bug') throw new Error('a bug');
      return valueOf(object) === 'hidden' ? undefined : valueOf(object);
    };
    const reflector = start({ project });
    await settled(reflector);
    const set = (value: string) => client.apply(configMap('a', value), { fieldManager: 'm' });
    await set('1');
    await set('bug');
    await expect.poll(() => failures).toEqual(['Error: a bug']);
    expect(reflector.get('n/a')).toBe('1');
    await set('hidden');
    await expect.poll(() => reflector.get('n/a')).toBeUndefined();
    expect(changes).toEqual(['n/a undefined 1', 'n/a 1 undefined']);
  });

  it('outlives listeners that throw', async () => {
    const bug = () => {
      throw new Error('a bug');
    };
    const reflector = start({ onChange: bug, onFailure: bug });
    await settled(reflector);
    server.watches.drop();
    await expectToFollow(reflector);
  });

  it('ends when told to, in a watch, in a pause, and before its first list', async () => {
    const reflector = start();
    await settled(reflector);
    abort.abort();
    await reflector.done;
    abort = new AbortController();
    server.inject({ when: () => true, act: { kind: 'status', code: 500 }, times: Infinity });
    const failing = start({ backoffMs: { first: 60_000, longest: 60_000 } });
    const waiting = failing.whenSynced();
    const impatient = failing.whenSynced(AbortSignal.timeout(20));
    await expect(impatient).rejects.toThrow('stopped waiting');
    abort.abort();
    await failing.done;
    await expect(waiting).rejects.toThrow('before its first list');
  });
});
