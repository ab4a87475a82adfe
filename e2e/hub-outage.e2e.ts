import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createRedisCluster,
  isReady,
  readRedisCluster,
  waitForRedisCluster,
  type RedisClusterView,
} from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { restartHub, sharedFleet, type Fleet } from './fleet.ts';
import { dataPods, getItem, kubectl, makeNamespace, readLocal, waitFor } from './member.ts';
import { agentPods, agentRestarts } from './outage.ts';
import { SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'hub-outage';
let fleet: Fleet;
let view: RedisClusterView;

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
  const input = {
    memberClusterId: fleet.a.memberClusterId,
    namespace: NAMESPACE,
    name: 'lonely',
    spec: SENTINEL_INPUT,
  };
  view = await createRedisCluster(fleet.hub.api, input);
  view = await waitForRedisCluster(fleet.hub.api, view.id, isReady, { what: 'Ready' });
});

afterAll(async () => {
  if (fleet.hub.process.exitCode !== null || fleet.hub.process.signalCode !== null) await restartHub(fleet);
  await cleanUp(fleet, fleet.a, NAMESPACE);
});

it('heals and scales without the hub, and the hub catches up when it is back', async () => {
  const { cluster } = fleet.a;
  const agentsBefore = await agentPods(cluster);
  const restartsBefore = await agentRestarts(cluster);
  const podsBefore = await dataPods(cluster, NAMESPACE, 'lonely');
  await fleet.hub.stop('SIGKILL');

  const primary = view.status?.currentPrimary ?? '';
  const replica = podsBefore.find((pod) => pod.metadata.name !== primary);
  const service = await getItem(cluster, NAMESPACE, 'service', 'lonely');
  await kubectl(cluster, ['delete', 'pod', replica?.metadata.name ?? '', '-n', NAMESPACE, '--wait=false']);
  await kubectl(cluster, ['delete', 'service', 'lonely', '-n', NAMESPACE]);
  await kubectl(cluster, ['patch', 'arc', 'lonely', '-n', NAMESPACE, '--type=merge', '-p', '{"spec":{"size":4}}']);
  await waitFor('the pod, the Service and the fourth pod', async () => {
    const pods = await dataPods(cluster, NAMESPACE, 'lonely');
    const again = pods.find((pod) => pod.metadata.name === replica?.metadata.name);
    const serviceAgain = await getItem(cluster, NAMESPACE, 'service', 'lonely');
    const object = await readLocal(cluster, NAMESPACE, 'lonely');
    const healed = again !== undefined && again.metadata.uid !== replica?.metadata.uid;
    const serves = serviceAgain !== undefined && serviceAgain.metadata.uid !== service?.metadata.uid;
    return healed && serves && object?.status?.phase === 'Ready' && object.status.readyPods === 4;
  });

  await restartHub(fleet);
  const servingAt = performance.now();
  const drifted = await waitForRedisCluster(
    fleet.hub.api,
    view.id,
    (each) => each.delivery.sync === 'DRIFTED' && each.status?.readyPods === 4,
    { what: 'caught up and DRIFTED' },
  );
  console.log(
    `hub outage: status caught up ${Math.round(performance.now() - servingAt)} ms after the hub served again`,
  );
  expect(drifted.delivery.drift).toContainEqual(
    expect.objectContaining({ path: 'spec.size', liveValue: 4, wantedValue: 3 }),
  );
  expect(drifted.status?.freshness).toBe('FRESH');

  const agentsAfter = await agentPods(cluster);
  expect(agentsAfter.map((pod) => pod.metadata.uid)).toEqual(agentsBefore.map((pod) => pod.metadata.uid));
  expect(await agentRestarts(cluster)).toBe(restartsBefore);
  const untouched = podsBefore.filter((pod) => pod !== replica).map((pod) => pod.metadata.uid);
  const podsAfter = await dataPods(cluster, NAMESPACE, 'lonely');
  expect(podsAfter.map((pod) => pod.metadata.uid)).toEqual(expect.arrayContaining(untouched));
});

it('takes the edit over when a person accepts it', async () => {
  const { generation } = (await readRedisCluster(fleet.hub.api, view.id)) ?? view;
  const document =
    'mutation A($input: AcceptDriftInput!) { acceptDrift(input: $input) { redisCluster { generation } userErrors { code message } } }';
  const answer = await fleet.hub.api.request<{ acceptDrift: { userErrors: unknown[] } }>(document, {
    input: { id: view.id, expectedGeneration: generation },
  });
  expect(answer.acceptDrift.userErrors).toEqual([]);
  const settled = await waitForRedisCluster(
    fleet.hub.api,
    view.id,
    (each) => each.delivery.sync === 'IN_SYNC' && isReady(each),
    { what: 'IN_SYNC' },
  );
  expect(settled.status?.size).toBe(4);
  expect(settled.generation).toBe(generation + 1);
});

it('takes the edit back when a person reverts it', async () => {
  const { cluster } = fleet.a;
  await kubectl(cluster, [
    'patch',
    'arc',
    'lonely',
    '-n',
    NAMESPACE,
    '--type=merge',
    '--field-manager=somebody',
    '-p',
    '{"spec":{"size":5}}',
  ]);
  const drifted = await waitForRedisCluster(fleet.hub.api, view.id, (each) => each.delivery.sync === 'DRIFTED', {
    what: 'DRIFTED',
  });
  expect(drifted.delivery.drift).toContainEqual(expect.objectContaining({ path: 'spec.size', manager: 'somebody' }));
  const document =
    'mutation R($input: RevertDriftInput!) { revertDrift(input: $input) { userErrors { code message } } }';
  const input = { id: view.id, expectedGeneration: drifted.generation };
  const answer = await fleet.hub.api.request<{ revertDrift: { userErrors: unknown[] } }>(document, { input });
  expect(answer.revertDrift.userErrors).toEqual([]);
  await waitForRedisCluster(fleet.hub.api, view.id, (each) => each.delivery.sync === 'IN_SYNC', { what: 'IN_SYNC' });
  const live = await readLocal(cluster, NAMESPACE, 'lonely');
  expect(live?.spec['size']).toBe(4);
});
