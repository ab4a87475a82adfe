import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createRedisCluster,
  isReady,
  mutateRedisCluster,
  readRedisCluster,
  waitForRedisCluster,
} from '../tools/fleet/redis-cluster.ts';
import { runCommand } from '../tools/setup/run-command.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  dataPods,
  getItem,
  kubectl,
  makeNamespace,
  readLocal,
  waitFor,
  waitLocallyReady,
  type PodItem,
} from './member.ts';
import { AGENT_NAMESPACE, agentPods } from './outage.ts';
import { SENTINEL_INPUT, SENTINEL_SPEC } from './specs.ts';

const NAMESPACE = 'uninstall';
const CRD = 'redisclusters.redis.atoll.dev';
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
});
afterAll(async () => {
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

const starts = (pods: readonly PodItem[]): unknown[] =>
  pods.map((pod) => [
    pod.metadata.name,
    pod.metadata.uid,
    pod.status.containerStatuses?.map((each) => each.containerID),
  ]);

const fillAndCount = async (name: string, keys: number): Promise<number> => {
  const client = await connectClient(fleet.b.cluster, NAMESPACE, name);
  for (let key = 0; key < keys; key += 1) await client.set(`key:${key}`, key);
  const count = await client.dbsize();
  client.disconnect();
  return count;
};

it('agent and CRD can go and come back: Redis runs on with its data, and is taken up again without a restart', async () => {
  const { api } = fleet.hub;
  const { cluster, memberClusterId } = fleet.b;
  const helm = (...args: string[]): Promise<string> =>
    runCommand([fleet.helm, ...args, '-n', AGENT_NAMESPACE, '--kubeconfig', cluster.kubeconfigPath]);
  const { id } = await createRedisCluster(api, {
    memberClusterId,
    namespace: NAMESPACE,
    name: 'pushed',
    spec: SENTINEL_INPUT,
  });
  await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name: 'local', spec: SENTINEL_SPEC });
  const local = await waitLocallyReady(cluster, NAMESPACE, 'local');
  expect(await fillAndCount('pushed', 100)).toBe(100);
  expect(await fillAndCount('local', 50)).toBe(50);
  const before = {
    pushed: starts(await dataPods(cluster, NAMESPACE, 'pushed')),
    local: starts(await dataPods(cluster, NAMESPACE, 'local')),
  };
  const values = await helm('get', 'values', 'atoll-agent', '-o', 'yaml');

  await helm('uninstall', 'atoll-agent', '--wait');
  await kubectl(cluster, ['delete', 'crd', CRD, '--wait=false']);
  await waitFor('the objects to wait in Terminating', async () => {
    const object = await readLocal(cluster, NAMESPACE, 'pushed');
    return object?.metadata.deletionTimestamp !== undefined;
  });
  expect(starts(await dataPods(cluster, NAMESPACE, 'pushed'))).toEqual(before.pushed);
  expect(await fillAndCount('pushed', 100)).toBe(100);

  const crdBefore = await getItem(cluster, 'default', 'crd', CRD);
  const valuesFile = `${fleet.hubDataDir}/agent-values.yaml`;
  await writeFile(valuesFile, values, { mode: 0o600 });
  await helm('install', 'atoll-agent', 'helm/atoll-agent', '-f', valuesFile);
  await waitFor(
    'the CRD to be made anew',
    async () => {
      const crd = await getItem(cluster, 'default', 'crd', CRD);
      return (
        crd !== undefined &&
        crd.metadata.uid !== crdBefore?.metadata.uid &&
        crd.metadata.deletionTimestamp === undefined
      );
    },
    90_000,
  );
  expect(starts(await dataPods(cluster, NAMESPACE, 'pushed'))).toEqual(before.pushed);
  expect(starts(await dataPods(cluster, NAMESPACE, 'local'))).toEqual(before.local);

  const gone = await waitForRedisCluster(api, id, (view) => view.delivery.sync === 'DELETED_LOCALLY', {
    what: 'DELETED_LOCALLY',
  });
  const { userErrors } = await mutateRedisCluster(api, 'recreate', { id, expectedGeneration: gone.generation });
  expect(userErrors).toEqual([]);
  await waitForRedisCluster(api, id, isReady, { what: 'Ready again' });
  const annotations = { 'redis.atoll.dev/data-set-id': local.status?.dataSetId ?? '' };
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name: 'local', spec: SENTINEL_SPEC, annotations });
  await waitLocallyReady(cluster, NAMESPACE, 'local');

  expect(starts(await dataPods(cluster, NAMESPACE, 'pushed'))).toEqual(before.pushed);
  expect(starts(await dataPods(cluster, NAMESPACE, 'local'))).toEqual(before.local);
  expect(await fillAndCount('pushed', 0)).toBe(100);
  expect(await fillAndCount('local', 0)).toBe(50);
  expect((await readRedisCluster(api, id))?.delivery.sync).toBe('IN_SYNC');
  expect(await agentPods(cluster)).toHaveLength(1);
}, 300_000);
