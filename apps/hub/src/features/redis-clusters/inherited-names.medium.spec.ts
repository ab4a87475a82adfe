/**
 * A tenant writes `config.constructor` into one pushed object of a member cluster, or an agent reports what cannot be read.
 * The lists that hold the object answer, and the object can still be reverted, deleted and forgotten.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { Json } from '../../../test/api-client.ts';
import {
  answerDelivery,
  createRedisCluster,
  reportStatus,
  SPEC,
  startApi,
  type Api,
  type Created,
} from '../../../test/api-fixture.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const LIST = `query L($namespace: String) { redisClusters(filter: { namespace: $namespace }) { totalCount nodes { id name namespace spec delivery { sync drift { path manager liveValue wantedValue } }
  status { phase endpoints { primary } pods { name } conditions { type } numbers details } } } }`;

interface Node {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly delivery: {
    readonly sync: string;
    readonly drift: readonly { readonly path: string; readonly liveValue: unknown; readonly wantedValue: unknown }[];
  };
  readonly status: { readonly phase: string } | null;
}

/** Each test has a list of its own. */
let namespace: string;
beforeEach(() => {
  namespace = `shop-${randomUUID().slice(0, 8)}`;
});
const list = async (): Promise<readonly Node[]> => {
  const answer = await api.admin.query(LIST, { namespace });
  expect(answer.errors).toEqual([]);
  return (answer.data['redisClusters'] as unknown as { nodes: readonly Node[] }).nodes;
};
const find = async ({ id }: Created): Promise<Node | undefined> => (await list()).find((node) => node.id === id);

/** A delivered object whose agent reports these fields. */
const poison = async (foreignFields: readonly unknown[]): Promise<Created> => {
  const made = await createRedisCluster(api, { namespace });
  await answerDelivery(api.hub, made.hubUid);
  await reportStatus(api.hub, made.hubUid, { foreignFields: foreignFields as object[] });
  return made;
};
const edited = (path: string): object => ({ path, manager: 'kubectl-patch', liveValue: '"x"' });

const NAMES = ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty', 'isPrototypeOf'];
const PATHS = NAMES.flatMap((name) => [
  `spec.${name}`,
  `spec.config.${name}`,
  `spec.resources.limits.${name}`,
  `spec.scheduling.nodeSelector.${name}`,
]);

describe('an object with a name that every JavaScript object has', () => {
  it.each(PATHS)('shows %s as drift beside the others of its list', async (path) => {
    const healthy = await poison([]);
    const made = await poison([edited(path)]);
    expect(await find(made)).toMatchObject({
      name: made.name,
      namespace,
      delivery: { sync: 'DRIFTED', drift: [{ path, liveValue: 'x', wantedValue: null }] },
      status: { phase: 'READY' },
    });
    expect((await find(healthy))?.delivery.sync).toBe('IN_SYNC');
  });

  it('can be reverted', async () => {
    const made = await poison([edited('spec.config.constructor')]);
    const payload = await api.admin.mutate(
      'revertDrift',
      { id: made.id, expectedGeneration: 1 },
      'redisCluster { generation }',
    );
    expect(payload).toMatchObject({ redisCluster: { generation: 2 }, userErrors: [] });
  });

  it.each(['deleteRedisCluster', 'forgetRedisCluster'])('can be removed by %s', async (mutation) => {
    const made = await poison([edited('spec.config.constructor')]);
    const payload = await api.admin.mutate(
      mutation,
      { id: made.id, expectedGeneration: 1 },
      'redisCluster { deleting delivery { sync } }',
    );
    expect(payload).toMatchObject({ redisCluster: { deleting: true, delivery: { sync: 'DELETING' } }, userErrors: [] });
  });

  it.each(PATHS)('is not taken over by the hub: acceptDrift of %s is refused with the name', async (path) => {
    const made = await poison([edited(path)]);
    const payload = await api.admin.mutate(
      'acceptDrift',
      { id: made.id, expectedGeneration: 1 },
      'redisCluster { generation }',
    );
    const [error] = payload['userErrors'] as unknown as Json[];
    expect(error?.['code']).toBe('SPEC_REJECTED');
    expect(String(error?.['message'])).toContain(path.split('.').at(-1));
  });

  it.each(NAMES.filter((name) => name !== '__proto__'))('cannot be made at the hub with %s', async (name) => {
    const map = JSON.parse(`{"${name}":"1"}`) as object;
    for (const [field, more] of [
      ['config', { config: map }],
      ['limits', { resources: { limits: map } }],
      ['nodeSelector', { scheduling: { nodeSelector: map } }],
    ] as const) {
      const payload = await api.admin.mutate(
        'createRedisCluster',
        { memberClusterId: api.memberClusterId, namespace: 'shop', name: 'poisoned', spec: { ...SPEC, ...more } },
        'redisCluster { id }',
      );
      const errors = payload['userErrors'] as unknown as { code: string; field: string[]; message: string }[];
      expect(errors.map(({ code }) => code)).toContain('INVALID_INPUT');
      expect(errors.some((error) => error.field.includes(field) && error.message.includes(name))).toBe(true);
    }
  });
});

describe('__proto__ in a request', () => {
  it('is refused in a JSON body as what it is, and in the document like every other name', async () => {
    const variables = `{"input": {"spec": {"config": {"__proto__": "x"}}}}`;
    const body = `{"query": "{ viewer { id } }", "variables": ${variables}}`;
    const sent = await api.admin.send({ headers: { 'content-type': 'application/json' }, body });
    expect(sent.errors[0]?.extensions.code).toBe('BAD_REQUEST');
    const input = `memberClusterId: "${api.memberClusterId}", namespace: "shop", name: "poisoned",
      spec: { engine: { type: REDIS, version: "8.0" }, mode: SENTINEL, config: { __proto__: "x" } }`;
    const answer = await api.admin.query(
      `mutation { createRedisCluster(input: { ${input} }) { redisCluster { id } userErrors { code field } } }`,
    );
    const payload = answer.data['createRedisCluster'] as unknown as { userErrors: readonly object[] };
    expect(payload.userErrors).toContainEqual({
      code: 'INVALID_INPUT',
      field: ['input', 'spec', 'config', '__proto__'],
    });
  });
});

describe('an object whose report cannot be read', () => {
  it('says so under its own names, and can be reverted, deleted and forgotten', async () => {
    const healthy = await poison([]);
    for (const [mutation, generation] of [
      ['revertDrift', 1],
      ['deleteRedisCluster', 1],
      ['forgetRedisCluster', 1],
    ] as const) {
      const made = await poison([null]);
      const node = await find(made);
      expect(node).toMatchObject({ name: made.name, namespace, delivery: { sync: 'DRIFTED' } });
      expect(String(node?.delivery.drift[0]?.liveValue)).toMatch(/^UNREADABLE: /);
      const payload = await api.admin.mutate(
        mutation,
        { id: made.id, expectedGeneration: generation },
        'redisCluster { id }',
      );
      expect(payload).toMatchObject({ redisCluster: { id: made.id }, userErrors: [] });
    }
    expect((await find(healthy))?.delivery.sync).toBe('IN_SYNC');
  });

  it('leaves the statuses of the others in the same answer', async () => {
    const healthy = await poison([]);
    const made = await poison([]);
    await reportStatus(api.hub, made.hubUid, { pods: [null] as unknown as object[] });
    const answer = await api.admin.query(LIST, { namespace });
    const { nodes } = answer.data['redisClusters'] as unknown as { nodes: readonly Node[] };
    expect(nodes.find((node) => node.id === made.id)?.status).toBeNull();
    expect(nodes.find((node) => node.id === healthy.id)?.status).toMatchObject({ phase: 'READY' });
    expect(answer.errors).toHaveLength(1);
  });
});
