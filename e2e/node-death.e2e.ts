import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createRedisCluster,
  isReady,
  primaryPod,
  readRedisCluster,
  trueCondition,
  waitForRedisCluster,
  type RedisClusterView,
} from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { connectClient, dataPods, makeNamespace, redisCli, waitFor, type PodItem } from './member.ts';
import { agentPods } from './outage.ts';
import { DURABLE_INPUT, SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'node-death';
let fleet: Fleet;
let killed: number | undefined;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
});
afterAll(async () => {
  if (killed !== undefined) await fleet.a.cluster.node(killed).start();
  await fleet.a.cluster.ready();
  await cleanUp(fleet, fleet.a, NAMESPACE);
});

const nodeOf = (pods: readonly PodItem[], name: string): string =>
  pods.find((pod) => pod.metadata.name === name)?.spec.nodeName ?? '';

function hasPrimaryOtherThan(view: RedisClusterView, old: string): boolean {
  const primary = primaryPod(view);
  return primary !== undefined && primary.name !== old && (view.status?.primaryTerm ?? 0) > 1;
}

it('a node dies with the primary on it: Sentinel fails over, status follows, and the pod comes back as a replica', async () => {
  const { api } = fleet.hub;
  const { cluster, memberClusterId } = fleet.a;
  const spec = { ...SENTINEL_INPUT, ...DURABLE_INPUT };
  const { id } = await createRedisCluster(api, { memberClusterId, namespace: NAMESPACE, name: 'survivor', spec });
  const before = await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  const oldPrimary = String(primaryPod(before)?.name);
  const pods = await dataPods(cluster, NAMESPACE, 'survivor');
  const nodes = new Set(pods.map((pod) => pod.spec.nodeName));
  expect(nodes.size).toBe(3); // spread, or the death of a node proves nothing
  const client = await connectClient(cluster, NAMESPACE, 'survivor');
  await client.set('before', 'death');
  expect(await client.call('WAIT', '2', '5000')).toBe(2);

  const nodeName = nodeOf(pods, oldPrimary);
  killed = Number(nodeName.slice(nodeName.lastIndexOf('-') + 1));
  const killedAt = performance.now();
  await cluster.node(killed).kill();
  const seconds = (): string => ((performance.now() - killedAt) / 1000).toFixed(1);

  const hasMoved = (view: RedisClusterView): boolean => hasPrimaryOtherThan(view, oldPrimary);
  const failedOver = await waitForRedisCluster(api, id, hasMoved, { what: 'failed over', timeoutMs: 120_000 });
  console.log(`node death: the hub shows the new primary after ${seconds()} s`);
  expect(failedOver.status?.endpoints?.['primaryAddress']).toContain(primaryPod(failedOver)?.ip);
  expect(await waitFor('a write at the new primary', async () => client.set('after', 'death'))).toBe('OK');
  console.log(`node death: a client writes again after ${seconds()} s`);
  expect(await client.get('before')).toBe('death');

  const isUnreachable = (view: RedisClusterView): boolean => trueCondition(view, 'NodeUnreachable') !== undefined;
  const unreachable = await waitForRedisCluster(api, id, isUnreachable, { what: 'NodeUnreachable' });
  expect(trueCondition(unreachable, 'NodeUnreachable')?.message).toContain(nodeName);

  await cluster.node(killed).start();
  killed = undefined;
  await waitForRedisCluster(api, id, (view) => isReady(view) && view.status?.readyPods === 3, {
    what: 'whole again',
    timeoutMs: 180_000,
  });
  const info = await redisCli(cluster, NAMESPACE, oldPrimary, ['INFO replication', 'GET before', 'GET after']);
  expect(info).toContain('role:slave');
  expect(info).toContain('master_link_status:up');
  expect(info.match(/death/g)).toHaveLength(2);
  expect(primaryPod((await readRedisCluster(api, id)) ?? before)?.name).toBe(primaryPod(failedOver)?.name);
  expect((await agentPods(cluster)).length).toBeGreaterThan(0);
  client.disconnect();
}, 420_000);
