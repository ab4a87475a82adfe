import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutateRedisCluster } from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { applyRedisCluster, dataPods, makeNamespace, readLocal, waitFor } from './member.ts';
import { SENTINEL_INPUT, SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';

const NAMESPACE = 'refusals';
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
});
afterAll(async () => {
  await cleanUp(fleet, fleet.a, NAMESPACE);
});

describe('the hub refuses with userErrors that name the field', () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['a size of 3 in Standalone mode', { spec: { ...SENTINEL_INPUT, mode: 'STANDALONE', size: 3 } }, 'size'],
    ['an even number of sentinels', { spec: { ...SENTINEL_INPUT, sentinel: { replicas: 4 } } }, 'sentinel'],
    [
      'a directive that the operator owns',
      { spec: { ...SENTINEL_INPUT, config: { replicaof: '10.0.0.1 6379' } } },
      'config',
    ],
    ['a name that Kubernetes does not take', { name: 'Not_A_Name' }, 'name'],
  ];
  it.each(cases)('%s', async (_title, change, field) => {
    const input = {
      memberClusterId: fleet.a.memberClusterId,
      namespace: NAMESPACE,
      name: 'wrong',
      spec: SENTINEL_INPUT,
      ...change,
    };
    const { redisCluster, userErrors } = await mutateRedisCluster(fleet.hub.api, 'create', input);
    expect(redisCluster).toBeNull();
    expect(userErrors[0]?.code).toBe('INVALID_INPUT');
    expect(userErrors[0]?.field?.join('.')).toContain(field);
    expect(userErrors[0]?.message.length).toBeGreaterThan(20);
  });
});

describe('the API server refuses by CEL, agent or no agent', () => {
  const cases: [string, unknown, RegExp][] = [
    ['a size of 3 in Standalone mode', { ...STANDALONE_SPEC, size: 3 }, /Standalone/],
    ['an even number of sentinels', { ...SENTINEL_SPEC, sentinel: { replicas: 4 } }, /odd/],
    [
      'a directive that the operator owns',
      { ...SENTINEL_SPEC, config: { replicaof: '10.0.0.1 6379' } },
      /replicaof|operator/,
    ],
    ['a persistent volume without a size', { ...STANDALONE_SPEC, storage: { type: 'PersistentVolume' } }, /size/],
    ['a mode that does not exist', { ...STANDALONE_SPEC, mode: 'Magic' }, /mode/],
  ];
  it.each(cases)('%s', async (_title, spec, message) => {
    await expect(applyRedisCluster(fleet.a.cluster, { namespace: NAMESPACE, name: 'wrong', spec })).rejects.toThrow(
      message,
    );
  });
});

it('the agent says SpecRejected with the reason where admission could not know, and makes nothing', async () => {
  const { cluster } = fleet.a;
  const spec = { ...STANDALONE_SPEC, config: { maxmemory: '4gb' } };
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name: 'unsafe', spec });
  const rejected = await waitFor('SpecRejected', async () => {
    const object = await readLocal(cluster, NAMESPACE, 'unsafe');
    return object?.status?.conditions?.find((each) => each.type === 'SpecRejected' && each.status === 'True');
  });
  expect(rejected.message).toMatch(/maxmemory/);
  expect(await dataPods(cluster, NAMESPACE, 'unsafe')).toHaveLength(0);
});
