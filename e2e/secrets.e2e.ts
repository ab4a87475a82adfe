import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRedisCluster, isReady, waitForRedisCluster } from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { connectClient, getItem, kubectl, listItems, makeNamespace, readConnection, type KubeItem } from './member.ts';
import { AGENT_NAMESPACE, agentPods } from './outage.ts';
import { SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'secrets';
let fleet: Fleet;
let id: string;

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
  const input = {
    memberClusterId: fleet.b.memberClusterId,
    namespace: NAMESPACE,
    name: 'canary',
    spec: SENTINEL_INPUT,
  };
  ({ id } = await createRedisCluster(fleet.hub.api, input));
  await waitForRedisCluster(fleet.hub.api, id, isReady, { what: 'Ready' });
  afterAll(async () => {
    await cleanUp(fleet, fleet.b, NAMESPACE);
  });
});

const decode = (secret: KubeItem | undefined): string[] =>
  Object.values(secret?.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());

/** Every password of the data set, the agent's key, the hub's tokens: none of them may stand anywhere but in its Secret. */
async function canaries(): Promise<string[]> {
  const { cluster } = fleet.b;
  const secrets = await listItems(cluster, NAMESPACE, 'secrets', 'app.kubernetes.io/instance=canary');
  const credentials = decode(secrets.find((secret) => secret.metadata.name.endsWith('-credentials')));
  const { password = '' } = await readConnection(cluster, NAMESPACE, 'canary');
  const identity = decode(await getItem(cluster, AGENT_NAMESPACE, 'secret', 'atoll-agent-identity'));
  const privateKeys = identity.filter((value) => value.includes('PRIVATE KEY')).map((pem) => pem.split('\n')[1] ?? pem);
  const adminToken = readFileSync(fleet.hub.adminTokenFile, 'utf8').trim();
  const found = [...credentials, password, ...privateKeys, adminToken].filter((value) => value.length >= 12);
  expect(found.length).toBeGreaterThanOrEqual(6);
  return [...new Set(found)];
}

const INTROSPECTION_DEEP = `query Q($id: ID!) {
  redisCluster(id: $id) { id spec status { endpoints { primary replicas sentinel masterName connectionSecret primaryAddress } pods { name ip } conditions { message reason } } delivery { message } }
  events(redisClusterId: $id, first: 100) { reason message }
  audit(first: 100) { edges { node { action before after } } }
  memberClusters(first: 10) { edges { node { name labels agents { id fingerprint } } } } }`;

it('no password, key or token stands in arguments, environment, logs, events, status, objects or answers', async () => {
  const { cluster } = fleet.b;
  const client = await connectClient(cluster, NAMESPACE, 'canary');
  expect(await client.set('a', 'b')).toBe('OK');
  client.disconnect();

  const outputs: Record<string, string> = {
    'objects and status': await kubectl(cluster, [
      'get',
      'arc,pods,statefulsets,services,configmaps,pdb,serviceaccounts,events',
      '-n',
      NAMESPACE,
      '-o',
      'yaml',
    ]),
    'agent objects': await kubectl(cluster, [
      'get',
      'pods,deployments,configmaps,leases,events',
      '-n',
      AGENT_NAMESPACE,
      '-o',
      'yaml',
    ]),
    'processes of the node': await processes(),
    'log of the hub': readFileSync(fleet.hub.logFile, 'utf8'),
    'GraphQL answers': await fleet.hub.api.requestText(INTROSPECTION_DEEP, { id }),
  };
  for (const pod of await agentPods(cluster)) {
    outputs['log of the agent'] = await kubectl(cluster, [
      'logs',
      pod.metadata.name,
      '-n',
      AGENT_NAMESPACE,
      '--all-containers',
    ]);
  }
  const selector = 'app.kubernetes.io/instance=canary';
  outputs['log of Redis'] = await kubectl(cluster, [
    'logs',
    '-n',
    NAMESPACE,
    '-l',
    selector,
    '--all-containers',
    '--prefix',
    '--tail=-1',
  ]);

  expect(outputs['GraphQL answers']).not.toContain('"errors"');
  expect(outputs['log of Redis']).toContain('canary');
  expect(outputs['processes of the node']).toContain('redis-server');
  for (const canary of await canaries()) {
    const leaks = Object.entries(outputs)
      .filter(([, text]) => text.includes(canary))
      .map(([name]) => name);
    expect(leaks).toEqual([]);
  }
});

/** Command lines and environments of every process on the node, hub included: the machine is one. */
async function processes(): Promise<string> {
  const script = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";
  const { stdout } = await fleet.b.cluster.node(1).exec(['sh', '-c', script]);
  return stdout;
}
