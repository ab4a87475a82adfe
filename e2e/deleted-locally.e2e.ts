import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createRedisCluster,
  isReady,
  mutateRedisCluster,
  readRedisCluster,
  waitForRedisCluster,
} from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { connectClient, dataPods, kubectl, listItems, makeNamespace, readLocal, waitFor } from './member.ts';
import { DURABLE_INPUT, SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'deleted-locally';
const KEYS = 500;
let fleet: Fleet;
let id: string;
let hubUid: string;

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
});
afterAll(async () => {
  await cleanUp(fleet, fleet.a, NAMESPACE);
});

const create = (): ReturnType<typeof createRedisCluster> =>
  createRedisCluster(fleet.hub.api, {
    memberClusterId: fleet.a.memberClusterId,
    namespace: NAMESPACE,
    name: 'ledger',
    spec: { ...SENTINEL_INPUT, ...DURABLE_INPUT },
  });
const countKeys = async (): Promise<number> => {
  const client = await connectClient(fleet.a.cluster, NAMESPACE, 'ledger');
  const count = await client.dbsize();
  client.disconnect();
  return count;
};
const volumes = async (): Promise<string[]> =>
  (await listItems(fleet.a.cluster, NAMESPACE, 'pvc')).map((claim) => claim.metadata.uid).sort();

it('is not recreated by itself when somebody deletes it by hand', async () => {
  const { cluster } = fleet.a;
  const created = await create();
  ({ id, hubUid } = created);
  await waitForRedisCluster(fleet.hub.api, id, isReady, { what: 'Ready' });
  const client = await connectClient(cluster, NAMESPACE, 'ledger');
  // Plain writes, transactions and scripts come back from the append-only file by different rights.
  for (let key = 0; key < KEYS; key += 5) {
    await client.set(`key:${key}`, key);
    await client
      .multi()
      .set(`key:${key + 1}`, key)
      .set(`key:${key + 2}`, key)
      .exec();
    const script = "redis.call('SET', KEYS[1], '1'); redis.call('SET', KEYS[2], '1')";
    await client.eval(script, 2, `key:${key + 3}`, `key:${key + 4}`);
  }
  expect(await client.call('WAIT', '2', '5000')).toBe(2);
  client.disconnect();

  await kubectl(cluster, ['delete', 'arc', 'ledger', '-n', NAMESPACE, '--timeout=60s']);
  const view = await waitForRedisCluster(fleet.hub.api, id, (each) => each.delivery.sync === 'DELETED_LOCALLY', {
    what: 'DELETED_LOCALLY',
  });
  await waitFor('its pods to go', async () => (await dataPods(cluster, NAMESPACE, 'ledger')).length === 0);
  await sleep(5000);
  expect(await readLocal(cluster, NAMESPACE, 'ledger')).toBeUndefined();
  expect(view.hubUid).toBe(hubUid);
  expect(await volumes()).toHaveLength(3);
});

it('Recreate takes the retained volumes up, with every key', async () => {
  const before = await volumes();
  const { generation } = (await readRedisCluster(fleet.hub.api, id)) ?? { generation: 0 };
  const { userErrors, redisCluster } = await mutateRedisCluster(fleet.hub.api, 'recreate', {
    id,
    expectedGeneration: generation,
  });
  expect(userErrors).toEqual([]);
  expect(redisCluster?.hubUid).toBe(hubUid);
  const view = await waitForRedisCluster(fleet.hub.api, id, isReady, { what: 'Ready again' });
  expect(view.status?.dataSetId).toBe(hubUid);
  expect(await volumes()).toEqual(before);
  expect(await countKeys()).toBe(KEYS);
});

it('Forget, then create under the same name: another data set, and the old volumes stay as they are', async () => {
  const { cluster } = fleet.a;
  const before = await volumes();
  await kubectl(cluster, ['delete', 'arc', 'ledger', '-n', NAMESPACE, '--timeout=60s']);
  const gone = await waitForRedisCluster(fleet.hub.api, id, (each) => each.delivery.sync === 'DELETED_LOCALLY', {
    what: 'DELETED_LOCALLY',
  });
  const { userErrors } = await mutateRedisCluster(fleet.hub.api, 'forget', { id, expectedGeneration: gone.generation });
  expect(userErrors).toEqual([]);
  await waitFor('the row to go', async () => (await readRedisCluster(fleet.hub.api, id)) === undefined);

  const second = await create();
  expect(second.hubUid).not.toBe(hubUid);
  await waitForRedisCluster(fleet.hub.api, second.id, isReady, { what: 'Ready' });
  expect(await countKeys()).toBe(0);
  expect(await volumes()).toEqual(expect.arrayContaining(before));
  expect(await volumes()).toHaveLength(6);
});
