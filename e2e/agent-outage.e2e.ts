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
import { connectClient, dataPods, getItem, listItems, makeNamespace, readLocal, waitFor } from './member.ts';
import { scaleAgent } from './outage.ts';
import { DURABLE_INPUT, SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'agent-outage';
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
});
afterAll(async () => {
  await scaleAgent(fleet.b.cluster, 1);
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

const create = async (name: string, spec: Record<string, unknown>): Promise<string> => {
  const { id } = await createRedisCluster(fleet.hub.api, {
    memberClusterId: fleet.b.memberClusterId,
    namespace: NAMESPACE,
    name,
    spec,
  });
  return id;
};

it('serves on without the agent, queues mutations, and applies them once when it is back', async () => {
  const { api } = fleet.hub;
  const id = await create('steady', SENTINEL_INPUT);
  await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  const before = await dataPods(fleet.b.cluster, NAMESPACE, 'steady');
  const generationBefore = (await readLocal(fleet.b.cluster, NAMESPACE, 'steady'))?.metadata.generation ?? 0;

  await scaleAgent(fleet.b.cluster, 0);
  const client = await connectClient(fleet.b.cluster, NAMESPACE, 'steady');
  expect(await client.set('during', 'outage')).toBe('OK');
  for (const maxmemoryPolicy of ['allkeys-lru', 'allkeys-lfu']) {
    const now = await readRedisCluster(api, id);
    const spec = { ...SENTINEL_INPUT, size: 4, config: { 'maxmemory-policy': maxmemoryPolicy } };
    const { userErrors } = await mutateRedisCluster(api, 'update', { id, expectedGeneration: now?.generation, spec });
    expect(userErrors).toEqual([]);
  }
  const waiting = await readRedisCluster(api, id);
  expect(waiting?.generation).toBe(3);
  expect(waiting?.delivery.sync).toBe('PENDING');

  await scaleAgent(fleet.b.cluster, 1);
  const settled = await waitForRedisCluster(api, id, (view) => isReady(view) && view.status?.size === 4, {
    what: 'Ready with 4',
  });
  expect(settled.delivery).toMatchObject({ state: 'APPLIED', sync: 'IN_SYNC', generation: 3 });
  const live = await readLocal(fleet.b.cluster, NAMESPACE, 'steady');
  expect(live?.metadata.generation).toBe(generationBefore + 1); // both updates, one write
  const after = await dataPods(fleet.b.cluster, NAMESPACE, 'steady');
  expect(after.map((pod) => pod.metadata.uid)).toEqual(expect.arrayContaining(before.map((pod) => pod.metadata.uid)));
  expect(await client.get('during')).toBe('outage');
  client.disconnect();
});

it('keeps a tombstone while the agent is away; it is acked, and only then the row goes', async () => {
  const { api } = fleet.hub;
  const id = await create('doomed', {
    ...SENTINEL_INPUT,
    ...DURABLE_INPUT,
    mode: 'STANDALONE',
    size: 1,
    deletionPolicy: 'RETAIN_VOLUMES',
  });
  const ready = await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  await scaleAgent(fleet.b.cluster, 0);
  const { userErrors } = await mutateRedisCluster(api, 'delete', { id, expectedGeneration: ready.generation });
  expect(userErrors).toEqual([]);
  const waiting = await readRedisCluster(api, id);
  expect(waiting?.deleting).toBe(true);
  expect(await readLocal(fleet.b.cluster, NAMESPACE, 'doomed')).toBeDefined();
  expect(await dataPods(fleet.b.cluster, NAMESPACE, 'doomed')).toHaveLength(1);

  await scaleAgent(fleet.b.cluster, 1);
  await waitFor('the row to go', async () => (await readRedisCluster(api, id)) === undefined);
  expect(await readLocal(fleet.b.cluster, NAMESPACE, 'doomed')).toBeUndefined();
  await waitFor('the pods to go', async () => (await dataPods(fleet.b.cluster, NAMESPACE, 'doomed')).length === 0);
  const claims = await listItems(fleet.b.cluster, NAMESPACE, 'pvc', 'app.kubernetes.io/instance=doomed');
  expect(claims).toHaveLength(1);
  expect(await getItem(fleet.b.cluster, NAMESPACE, 'service', 'doomed')).toBeUndefined();
});
