import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutateRedisCluster } from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { applyRedisCluster, dataPods, kubectl, makeNamespace, readLocal, waitFor } from './member.ts';
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
    [
      'a time zone of nowhere',
      {
        spec: {
          ...SENTINEL_INPUT,
          maintenanceWindows: [{ start: '03:00', duration: '2h', timeZone: 'Europe/Atlantis' }],
        },
      },
      'timeZone',
    ],
    [
      'a user with rights over the server',
      { spec: { ...SENTINEL_INPUT, auth: { users: [{ name: 'boss', rules: '~* +@all' }] } } },
      'rules',
    ],
    ['more memory than the reserve leaves', { spec: { ...SENTINEL_INPUT, memory: { maxmemory: '180mb' } } }, 'memory'],
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
    ['maxmemory above the limit', { ...SENTINEL_SPEC, memory: { maxmemory: '1gb' } }, /memory limit/],
    [
      'a password among the rules of a user',
      { ...SENTINEL_SPEC, auth: { users: [{ name: 'reader', rules: '~* +@read >secret' }] } },
      /no password/,
    ],
    [
      'a user of the operator',
      { ...SENTINEL_SPEC, auth: { users: [{ name: 'default', rules: '~* +@read' }] } },
      /choose another name/,
    ],
    ['a directive called constructor', { ...STANDALONE_SPEC, config: { constructor: 'x' } }, /every object has it/],
    [
      'a label called toString',
      { ...STANDALONE_SPEC, scheduling: { nodeSelector: { toString: 'x' } } },
      /every object has it/,
    ],
    ['hibernation without volumes', { ...SENTINEL_SPEC, hibernation: true }, /PersistentVolume/],
    ['a mode that does not exist', { ...STANDALONE_SPEC, mode: 'Magic' }, /mode/],
  ];
  it.each(cases)('%s', async (_title, spec, message) => {
    await expect(applyRedisCluster(fleet.a.cluster, { namespace: NAMESPACE, name: 'wrong', spec })).rejects.toThrow(
      message,
    );
  });
});

it('a volume may grow and not shrink, and the mode may change: on an object that nobody acts on', async () => {
  const { cluster } = fleet.a;
  const name = 'changing';
  const before = { ...STANDALONE_SPEC, suspend: true, storage: { type: 'PersistentVolume', size: '128Mi' } };
  const apply = (change: object) =>
    applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec: { ...before, ...change } });
  await apply({});
  await apply({ mode: 'Replication', size: 2, storage: { type: 'PersistentVolume', size: '256Mi' } });
  await expect(apply({ storage: { type: 'PersistentVolume', size: '255Mi' } })).rejects.toThrow(/grow and not shrink/);
  await expect(apply({ storage: undefined })).rejects.toThrow(/storage.type cannot be changed/);
});

it('a RedisOperation says one thing, and stays what it said', async () => {
  const operation = (spec: object) => ({
    apiVersion: 'redis.atoll.dev/v1alpha1',
    kind: 'RedisOperation',
    metadata: { name: 'deed', namespace: NAMESPACE },
    spec: { redisCluster: 'nobody', ...spec },
  });
  const apply = (spec: object) => kubectl(fleet.a.cluster, ['apply', '-f', '-'], JSON.stringify(operation(spec)));
  await expect(apply({ type: 'Plan' })).rejects.toThrow(/type Plan needs plan/);
  await expect(apply({ type: 'Failover', restart: {} })).rejects.toThrow(/restart belongs to type Restart/);
  await apply({ type: 'Failover', notAfter: '2020-01-01T00:00:00Z' });
  await expect(apply({ type: 'Restart', notAfter: '2020-01-01T00:00:00Z' })).rejects.toThrow(/type cannot be changed/);
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
