import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SCOPE_CONFIG_MAP } from '#domain';
import type { KubeObject, Plan, Scope, ScopeRecord } from '#domain';
import { KubeError, RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { FakeKubeServer, connectFakeKube } from '#testing';
import { NamespaceTenure } from './namespace-tenure.ts';
import { Operator } from './operator.ts';

const at = { namespace: 'shop', name: SCOPE_CONFIG_MAP };
const SHOP: Scope = { kind: 'NAMESPACE', namespace: 'shop' };
const until = (test: () => Promise<void> | void): Promise<void> => vi.waitFor(test, { timeout: 8_000, interval: 20 });

let server: FakeKubeServer;
let client: KubeClient;
beforeEach(async () => {
  server = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(server), { userAgent: 'test/0' });
});
afterEach(async () => {
  await client.close();
  await server.stop();
});

const record = async (): Promise<Record<string, string>> =>
  ((await client.get(RESOURCE.configMap, at))['data'] ?? {}) as Record<string, string>;

describe('a hand-over between two agents', () => {
  const writes: { readonly agent: string; readonly what: string }[] = [];
  const operators: Operator[] = [];
  afterEach(async () => {
    await Promise.all(operators.splice(0).map((operator) => operator.stop()));
  });

  /** The client, with each write noted once the server has taken it. */
  const noting = (agent: string): KubeClient => {
    const note =
      <A extends unknown[], R>(what: string, verb: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        const answer = await verb(...args);
        writes.push({ agent, what: `${what} ${JSON.stringify(args[0]).slice(0, 60)}` });
        return answer;
      };
    return {
      ...client,
      create: note('create', client.create) as KubeClient['create'],
      apply: note('apply', client.apply) as KubeClient['apply'],
      applyStatus: note('status', client.applyStatus) as KubeClient['applyStatus'],
      patchJson: note('patch', client.patchJson) as KubeClient['patchJson'],
      delete: note('delete', client.delete),
    };
  };

  const start = (agent: string, scope: Scope): void => {
    operators.push(
      new Operator({
        client: noting(agent),
        scope,
        clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
        podName: agent,
        mayWrite: () => true,
        log: () => undefined,
        onPass: () => undefined,
      }),
    );
  };

  it('goes both ways, and no write of one agent lies between two of the other', async () => {
    await client.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'redisclusters.redis.atoll.dev' },
      spec: { group: 'redis.atoll.dev', versions: [] },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
    const make = (name: string): Promise<KubeObject> =>
      client.create({
        apiVersion: 'redis.atoll.dev/v1alpha1',
        kind: 'RedisCluster',
        metadata: { namespace: 'shop', name },
        spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
      });
    const isWritten = (name: string) =>
      until(async () => {
        const object = await client.get(RESOURCE.redisCluster, { namespace: 'shop', name });
        expect(object['status']).toBeDefined();
      });
    start('wide', { kind: 'CLUSTER' });
    await make('one');
    await isWritten('one');
    start('narrow', SHOP);
    await make('two');
    await until(async () => expect(await record()).toEqual({ owner: 'NAMESPACE/shop', releasedBy: 'CLUSTER' }));
    await make('three');
    await isWritten('three');
    await client.patchMerge(RESOURCE.configMap, at, { data: { requestedBy: 'CLUSTER' } });
    await until(async () => expect(await record()).toEqual({ owner: 'CLUSTER', releasedBy: 'NAMESPACE/shop' }));
    await make('four');
    await isWritten('four');
    const turns = writes.map(({ agent }) => agent).filter((agent, index, all) => agent !== all[index - 1]);
    expect(turns).toEqual(['wide', 'narrow', 'wide']);
  });
});

describe('the tenure of a namespace', () => {
  let known: ScopeRecord | undefined;
  let tenure: NamespaceTenure;
  const logs: string[] = [];
  const begin = (patchMerge: KubeClient['patchMerge']): void => {
    tenure = new NamespaceTenure({
      client: { ...client, patchMerge },
      scope: { kind: 'CLUSTER' },
      clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
      log: (_, message) => logs.push(message),
      mayWrite: () => true,
      recordOf: () => known,
      wake: () => undefined,
    });
  };
  afterEach(() => tenure.stop());
  const see = (change: Partial<ScopeRecord>): void => {
    known = { owner: 'CLUSTER', resourceVersion: '5', ...change };
    tenure.changed('shop');
  };

  it('waits for the passes under way, and begins no other meanwhile', async () => {
    const sent: unknown[] = [];
    begin(((_: unknown, __: unknown, patch: unknown) => {
      sent.push(patch);
      return Promise.resolve({ metadata: { resourceVersion: '6' } });
    }) as unknown as KubeClient['patchMerge']);
    see({});
    const leave = tenure.enter('shop/one');
    expect(leave).toBeTypeOf('function');
    see({ requestedBy: 'NAMESPACE/shop' });
    expect(tenure.enter('shop/two')).toBeUndefined();
    expect(tenure.isForeign('shop')).toBe(false);
    expect(sent).toEqual([]);
    leave?.(undefined);
    await until(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toEqual({
      metadata: { resourceVersion: '5' },
      data: { owner: 'NAMESPACE/shop', requestedBy: null, releasedBy: 'CLUSTER' },
    });
    await until(() => expect(logs).toContain('namespace handed over'));
    // The watch still shows the old record: that counts for nothing.
    expect(tenure.owns('shop')).toBe(false);
    expect(tenure.isForeign('shop')).toBe(true);
  });

  it('finishes a disruption that it began, begins no other, and only then hands over', async () => {
    const sent: unknown[] = [];
    begin(((_: unknown, __: unknown, patch: unknown) => {
      sent.push(patch);
      return Promise.resolve({ metadata: { resourceVersion: '6' } });
    }) as unknown as KubeClient['patchMerge']);
    const evict = {
      kind: 'EvictPod',
      reason: 'Restart',
      message: 'x',
      disruptive: true,
      pod: 'p-1',
      podUid: 'u',
    } as const;
    const label = {
      kind: 'LabelRole',
      reason: 'RoleMoved',
      message: 'x',
      disruptive: false,
      pod: 'p-0',
      podUid: 'u',
      role: 'primary',
    } as const;
    const planOf = (...actions: Plan['actions']): Plan =>
      ({ actions, trail: [], status: { phase: 'Updating', conditions: [] } }) as unknown as Plan;
    const passed = (plan: Plan) =>
      ({ key: { namespace: 'shop', name: 'one' }, seen: 'PLANNED', plan, result: { done: plan.actions } }) as const;
    see({});
    tenure.enter('shop/one')?.(passed(planOf(evict)));
    see({ requestedBy: 'NAMESPACE/shop' });
    expect(tenure.enter('shop/two')).toBeUndefined();
    const finishing = planOf(label);
    expect(tenure.restrain('shop/one', finishing)).toBe(finishing);
    tenure.enter('shop/one')?.(passed(finishing));
    expect(sent).toEqual([]);
    const leave = tenure.enter('shop/one');
    const restrained = tenure.restrain('shop/one', planOf(label, evict));
    expect(restrained.actions).toEqual([label]);
    leave?.(passed(restrained));
    await until(() => expect(sent).toHaveLength(1));
  });

  it('writes nothing there while it does not know whether the hand-over was carried out', async () => {
    let answers = 0;
    begin(() => {
      answers += 1;
      return Promise.reject(new KubeError({ reason: 'TIMEOUT', message: 'no answer' }));
    });
    see({ requestedBy: 'NAMESPACE/shop' });
    await until(() => expect(answers).toBeGreaterThan(1));
    expect(tenure.isForeign('shop')).toBe(true);
    expect(tenure.enter('shop/one')).toBeUndefined();
    see({ requestedBy: 'NAMESPACE/shop', resourceVersion: '5' });
    expect(tenure.isForeign('shop')).toBe(true);
  });

  it('goes on as the owner when the request is taken back in time', () => {
    begin(client.patchMerge);
    see({});
    const leave = tenure.enter('shop/one');
    see({ requestedBy: 'NAMESPACE/shop' });
    see({ resourceVersion: '7' });
    expect(tenure.owns('shop')).toBe(true);
    expect(tenure.enter('shop/two')).toBeTypeOf('function');
    leave?.(undefined);
  });
});
