import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SCOPE_CONFIG_MAP, formatScopeOwner } from '#domain';
import type { KubeObject, Scope } from '#domain';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { FakeKubeServer, connectFakeKube } from '#testing';
import type { KubeStore, SeenRequest } from '#testing';
import { Operator } from './operator.ts';

/**
 * Two agents of different scope as they are, against one API server. At the moment in which a write takes effect the server
 * itself looks up who owns the namespace: every write of an agent in it must be its owner's.
 */
const WIDE: Scope = { kind: 'CLUSTER' };
const NARROW: Scope = { kind: 'NAMESPACE', namespace: 'shop' };
const at = { namespace: 'shop', name: SCOPE_CONFIG_MAP };
const scopePath = `/api/v1/namespaces/shop/configmaps/${SCOPE_CONFIG_MAP}`;
/** Nothing is measured here: it only ends a test that cannot end. */
const until = (test: () => Promise<void> | void): Promise<void> => vi.waitFor(test, { timeout: 40_000, interval: 20 });

interface TakenWrite {
  readonly by: string;
  readonly what: string;
  readonly owner: string;
}

let server: FakeKubeServer;
let person: KubeClient;
let taken: TakenWrite[];
const running: { readonly operator: Operator; readonly client: KubeClient }[] = [];

const ownerIn = (store: KubeStore): string => {
  try {
    const { data } = store.read({ collection: 'v1/configmaps', ...at }) as KubeObject & { data: { owner: string } };
    return data.owner;
  } catch {
    return 'NOBODY';
  }
};

/** The word of an agent in the ConfigMap itself, and Events, are the only things that somebody else may write. */
const isOfOwner = ({ method, path, headers }: SeenRequest): boolean =>
  method !== 'GET' && headers['user-agent'] !== 'person' && path.includes('/namespaces/shop/') && path !== scopePath;

beforeEach(async () => {
  taken = [];
  server = await FakeKubeServer.start({
    onServe: (request, store) => {
      if (!isOfOwner(request) || (request.method === 'POST' && request.path.endsWith('/configmaps'))) return;
      taken.push({
        by: String(request.headers['user-agent']),
        what: `${request.method} ${request.path}`,
        owner: ownerIn(store),
      });
    },
  });
  person = createKubeClient(connectFakeKube(server), { userAgent: 'person' });
  await person.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'redisclusters.redis.atoll.dev' },
    spec: { group: 'redis.atoll.dev', versions: [] },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  });
});
afterEach(async () => {
  server.clearFaults();
  await Promise.all(running.map(({ operator }) => operator.stop()));
  await Promise.all(running.splice(0).map(({ client }) => client.close()));
  await person.close();
  await server.stop();
});

const start = (scope: Scope): readonly string[] => {
  const logs: string[] = [];
  const client = createKubeClient(connectFakeKube(server), { userAgent: formatScopeOwner(scope) });
  const operator = new Operator({
    client,
    scope,
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    podName: formatScopeOwner(scope),
    mayWrite: () => true,
    log: (_, message) => logs.push(message),
    onPass: () => undefined,
  });
  running.push({ operator, client });
  return logs;
};

const make = (name: string): Promise<KubeObject> =>
  person.create({
    apiVersion: 'redis.atoll.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { namespace: 'shop', name },
    spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' },
  });

const isMade = (name: string): Promise<void> =>
  until(async () => {
    const object = await person.get(RESOURCE.redisCluster, { namespace: 'shop', name });
    expect(object['status']).toBeDefined();
    const sets = (await person.listAll(RESOURCE.statefulSet, { namespace: 'shop' })).items;
    expect(sets.filter(({ metadata }) => metadata.name.startsWith(`${name}-`))).toHaveLength(2);
  });

/** The write of this agent that is the given one of its next ones is held at the server until `release` is called. */
const holdWrite = (scope: Scope, which: number): { readonly isHeld: () => boolean; readonly release: () => void } => {
  let seen = 0;
  let isHeld = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.inject({
    when: (request) => {
      if (!isOfOwner(request) || request.headers['user-agent'] !== formatScopeOwner(scope)) return false;
      seen += 1;
      if (seen !== which) return false;
      isHeld = true;
      return true;
    },
    act: { kind: 'hold', until: promise },
  });
  return { isHeld: () => isHeld, release: resolve };
};

const readOwner = async (): Promise<unknown> =>
  ((await person.get(RESOURCE.configMap, at))['data'] as Record<string, string>)['owner'];

describe('a namespace that changes hands in the middle of an action', () => {
  it.each([1, 5, 11])(
    'at write %d of the owner: no write of either agent is in the time of the other',
    async (which) => {
      const logs = { wide: start(WIDE), narrow: [] as readonly string[] };
      await make('first');
      await isMade('first');
      expect(new Set(taken.map(({ by }) => by))).toEqual(new Set(['CLUSTER']));

      const action = holdWrite(WIDE, which);
      await make('second');
      await until(() => expect(action.isHeld()).toBe(true));
      logs.narrow = start(NARROW);
      await until(() => expect(logs.wide).toContain('namespace is asked for; finishing what is under way'));
      action.release();
      await until(async () => expect(await readOwner()).toBe('NAMESPACE/shop'));
      await isMade('second');

      const back = holdWrite(NARROW, which);
      await make('third');
      await until(() => expect(back.isHeld()).toBe(true));
      await person.patchMerge(RESOURCE.configMap, at, { data: { requestedBy: 'CLUSTER' } });
      await until(() => expect(logs.narrow).toContain('namespace is asked for; finishing what is under way'));
      back.release();
      await until(async () => expect(await readOwner()).toBe('CLUSTER'));
      await isMade('third');
      await make('fourth');
      await isMade('fourth');

      expect(taken.filter(({ by, owner }) => by !== owner)).toEqual([]);
      expect(new Set(taken.map(({ by }) => by))).toEqual(new Set(['CLUSTER', 'NAMESPACE/shop']));
      const turns = taken.map(({ by }) => by).filter((by, index, all) => by !== all[index - 1]);
      expect(turns).toEqual(['CLUSTER', 'NAMESPACE/shop', 'CLUSTER']);
    },
    120_000,
  );

  it('also where the answer to the hand-over is lost, so that the old owner does not know yet', async () => {
    const wide = start(WIDE);
    await make('first');
    await isMade('first');
    server.inject({
      when: ({ method, path, body }) => method === 'PATCH' && path === scopePath && body.includes('releasedBy'),
      act: { kind: 'drop-after' },
    });
    start(NARROW);
    await make('second');
    await until(async () => expect(await readOwner()).toBe('NAMESPACE/shop'));
    await make('third');
    await isMade('second');
    await isMade('third');
    await until(() => expect(wide).toContain('hand-over not confirmed yet'));
    expect(taken.filter(({ by, owner }) => by !== owner)).toEqual([]);
  }, 120_000);
});
