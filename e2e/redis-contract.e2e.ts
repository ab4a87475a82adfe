// The promises that libs/redis builds on, on real servers; the same cases run on the scripted ones in unit tests.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { KubeObject } from '#domain';
import { type KubeClient, RESOURCE, createKubeClient, loadKubeConnection } from '#kube';
import { RedisLink, SentinelLink } from '#redis';
import { REDIS_CONTRACT, SENTINEL_CONTRACT } from '#testing';
import { sharedFleet } from './fleet.ts';
import { waitFor } from './member.ts';

const IMAGE = process.env['ATOLL_E2E_CONTRACT_IMAGE'] ?? 'docker.io/library/redis:8.0';
const SERVER = IMAGE.includes('valkey') ? 'valkey-server' : 'redis-server';
const PASSWORD = 'canary-6c1d';
const namespace = `redis-contract-${randomUUID().slice(0, 8)}`;

const COMMANDS = {
  redis: `exec ${SERVER} --protected-mode no --user atoll on '>${PASSWORD}' '~*' '&*' +@all`,
  sentinel: `printf 'port 26379\nprotected-mode no\n' > /tmp/sentinel.conf; exec ${SERVER} /tmp/sentinel.conf --sentinel`,
};

describe(`the contract of ${IMAGE}`, () => {
  let client: KubeClient;
  let redis: RedisLink;
  let sentinel: SentinelLink;
  const address = { redis: '', sentinel: '' };

  beforeAll(async () => {
    const kubeconfigPath = process.env['ATOLL_E2E_KUBECONFIG_A'] ?? (await sharedFleet()).a.cluster.kubeconfigPath;
    client = createKubeClient(await loadKubeConnection({ kubeconfigPath }), { userAgent: 'redis-contract/0' });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const name of ['redis', 'sentinel'] as const) {
      address[name] = await runPod(client, name, COMMANDS[name]);
    }
    const credentials = () => ({ username: 'atoll', password: PASSWORD });
    redis = new RedisLink({ host: address.redis, port: 6379, credentials });
    sentinel = new SentinelLink({ host: address.sentinel, port: 26379, credentials: () => undefined });
    await waitFor('Redis answers', async () => (await redis.probe()).reachable);
    await waitFor('Sentinel answers', async () => (await sentinel.probe('contract-1')).reachable);
  });

  afterAll(async () => {
    redis?.close();
    sentinel?.close();
    await client.delete(RESOURCE.namespace, { name: namespace });
    await client.close();
  });

  for (const { name, run } of REDIS_CONTRACT) it(name, () => run(redis));
  for (const { name, run } of SENTINEL_CONTRACT) it(name, () => run(sentinel, [address.redis, '10.255.255.1']));
});

/** Answers the pod's address. */
async function runPod(client: KubeClient, name: string, command: string): Promise<string> {
  await client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers: [{ name, image: IMAGE, command: ['sh', '-c', command] }] },
  });
  return waitFor(`pod ${name} has an address`, async () => {
    const pod: KubeObject | undefined = await client.find(RESOURCE.pod, { namespace, name });
    return (pod?.['status'] as { podIP?: string } | undefined)?.podIP;
  });
}
