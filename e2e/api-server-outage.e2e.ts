import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRedisCluster, isReady, readRedisCluster, waitForRedisCluster } from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { connectClient, dataPods, kubectl, makeNamespace, waitFor, waitLocallyReady } from './member.ts';
import { agentPods, agentRestarts } from './outage.ts';
import { SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'api-outage';
const OUTAGE_MS = 60_000;
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
});
afterAll(async () => {
  await fleet.b.cluster.apiServer.start();
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

it('an API server that is away for a minute costs no write, no pod and no agent', async () => {
  const { api } = fleet.hub;
  const { cluster, memberClusterId } = fleet.b;
  const { id } = await createRedisCluster(api, {
    memberClusterId,
    namespace: NAMESPACE,
    name: 'calm',
    spec: SENTINEL_INPUT,
  });
  const before = await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  const podsBefore = await dataPods(cluster, NAMESPACE, 'calm');
  const agentsBefore = await agentPods(cluster);
  const restartsBefore = await agentRestarts(cluster);
  const client = await connectClient(cluster, NAMESPACE, 'calm');

  await cluster.apiServer.kill();
  const document = 'query M($id: ID!) { memberCluster(id: $id) { freshness agents { connected inventory } } }';
  let saidApiDown = false;
  for (let elapsedMs = 0, written = 0; elapsedMs < OUTAGE_MS; elapsedMs += 1000, written += 1) {
    expect(await client.set(`k${written}`, written)).toBe('OK');
    const { memberCluster } = await api.request<{
      memberCluster: { agents: { connected: boolean; inventory: string }[] };
    }>(document, { id: memberClusterId });
    saidApiDown ||= memberCluster.agents.some((agent) => agent.connected && agent.inventory === 'UNKNOWN');
    await sleep(1000);
  }
  expect(saidApiDown).toBe(true); // the agent lives, keeps the link, and says that its inventory is unknown

  await cluster.apiServer.start();
  await waitFor('the agent to go on: a deleted Service comes back', async () => {
    await kubectl(cluster, ['delete', 'service', 'calm', '-n', NAMESPACE]);
    return true;
  });
  await waitFor(
    'the Service',
    async () => (await kubectl(cluster, ['get', 'service', 'calm', '-n', NAMESPACE, '-o', 'name'])) !== '',
  );
  // Kubernetes itself may call the node NotReady for a moment: its kubelet could not renew its lease for a minute.
  await waitLocallyReady(cluster, NAMESPACE, 'calm');
  const after = await waitForRedisCluster(api, id, (view) => isReady(view) && view.status?.freshness === 'FRESH', {
    what: 'Ready again',
  });
  expect(after.status?.currentPrimary).toBe(before.status?.currentPrimary);
  expect(after.status?.primaryTerm).toBe(before.status?.primaryTerm);
  expect((await dataPods(cluster, NAMESPACE, 'calm')).map((pod) => pod.metadata.uid)).toEqual(
    podsBefore.map((pod) => pod.metadata.uid),
  );
  expect((await agentPods(cluster)).map((pod) => pod.metadata.uid)).toEqual(
    agentsBefore.map((pod) => pod.metadata.uid),
  );
  expect(await agentRestarts(cluster)).toBe(restartsBefore);
  expect(await client.get('k0')).toBe('0');
  client.disconnect();
  expect((await readRedisCluster(api, id))?.delivery.sync).toBe('IN_SYNC');
});
