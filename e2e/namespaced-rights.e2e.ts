// A cluster-wide agent whose values name namespaces: it has rights in these alone, does all its work there, and the end of one of them stops
// nothing in the others.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../tools/setup/run-command.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { applyRedisCluster, getItem, kubectl, makeNamespace, redisCli, waitFor, waitLocallyReady } from './member.ts';
import { AGENT_NAMESPACE } from './outage.ts';
import { REPLICATION_SPEC, STANDALONE_SPEC } from './specs.ts';

const KEPT = 'rights-kept';
const ENDED = 'rights-ended';
const ACCOUNT = `system:serviceaccount:${AGENT_NAMESPACE}:atoll-agent`;
let fleet: Fleet;

const helm = (args: readonly string[]): Promise<string> =>
  runCommand([fleet.helm, ...args, '-n', AGENT_NAMESPACE, '--kubeconfig', fleet.b.cluster.kubeconfigPath]);
const rolledOut = (): Promise<string> =>
  kubectl(fleet.b.cluster, ['rollout', 'status', 'deployment/atoll-agent', '-n', AGENT_NAMESPACE, '--timeout=120s']);
const agentMay = async (verb: string, resource: string, namespace: string): Promise<boolean> => {
  const { stdout } = await fleet.b.cluster.kubectl(['auth', 'can-i', verb, resource, '-n', namespace, '--as', ACCOUNT]);
  return stdout.trim() === 'yes';
};

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, KEPT);
  await makeNamespace(fleet.b.cluster, ENDED);
  const policies = 'networkPolicy.enabled=true,networkPolicy.redis.enabled=true';
  const values = ['--reuse-values', '--set', `limits.namespaces={${KEPT},${ENDED}},${policies}`];
  await helm(['upgrade', 'atoll-agent', 'helm/atoll-agent', ...values]);
  await rolledOut();
});
afterAll(async () => {
  await cleanUp(fleet, fleet.b, KEPT);
  await waitFor('nothing of it', async () => {
    const left = await kubectl(fleet.b.cluster, ['get', 'arc', '-n', KEPT, '-o', 'name']);
    return left.trim() === '';
  });
  await helm(['rollback', 'atoll-agent']);
  await rolledOut();
});

it.each([
  ['get', 'secrets', KEPT, true],
  ['list', 'secrets', KEPT, false],
  ['create', 'statefulsets.apps', ENDED, true],
  ['get', 'secrets', 'kube-system', false],
  ['create', 'statefulsets.apps', 'kube-system', false],
  ['create', 'statefulsets.apps', 'default', false],
  ['list', 'redisclusters.redis.atoll.dev', 'default', false],
  ['create', 'namespaces', 'default', false],
  ['list', 'nodes', 'default', true],
])('may %s %s in %s: %s', async (verb, resource, namespace, allowed) => {
  expect(await agentMay(verb, resource, namespace)).toBe(allowed);
});

it('has NetworkPolicies that the API server takes, as has the hub', async () => {
  const { cluster } = fleet.b;
  const listed = await kubectl(cluster, [
    'get',
    'networkpolicy',
    '-A',
    '-o',
    'jsonpath={.items[*].metadata.namespace}',
  ]);
  expect(listed.split(' ').sort()).toEqual([AGENT_NAMESPACE, ENDED, KEPT]);
  const hub = await helm([
    'template',
    'atoll-hub',
    'helm/atoll-hub',
    '--set',
    'networkPolicy.enabled=true',
    '-s',
    'templates/network-policy.yaml',
  ]);
  expect(await kubectl(cluster, ['apply', '--dry-run=server', '-n', AGENT_NAMESPACE, '-f', '-'], hub)).toContain(
    'atoll-hub created',
  );
});

it('operates RedisClusters there, hands a primary over, and goes on when another of its namespaces is deleted', async () => {
  const { cluster } = fleet.b;
  await applyRedisCluster(cluster, { namespace: KEPT, name: 'cart', spec: REPLICATION_SPEC });
  await applyRedisCluster(cluster, { namespace: ENDED, name: 'gone', spec: STANDALONE_SPEC });
  const ready = await waitLocallyReady(cluster, KEPT, 'cart');
  await waitLocallyReady(cluster, ENDED, 'gone');
  await redisCli(cluster, KEPT, ready.status?.currentPrimary ?? '', ['SET kept yes', 'WAIT 1 2000']);

  await kubectl(cluster, ['delete', 'arc', 'gone', '-n', ENDED, '--timeout=60s']);
  await kubectl(cluster, ['delete', 'namespace', ENDED, '--timeout=120s']);
  expect(await agentMay('list', 'pods', ENDED)).toBe(false);

  // A change that rolls every pod and hands the primary over.
  await applyRedisCluster(cluster, {
    namespace: KEPT,
    name: 'cart',
    spec: { ...REPLICATION_SPEC, config: { databases: '8' } },
  });
  await waitFor(
    'a new generation that is ready',
    async () => {
      const arc = await getItem(cluster, KEPT, 'arc', 'cart');
      const status = arc?.status as { phase?: string; observedGeneration?: number } | undefined;
      return status?.phase === 'Ready' && status.observedGeneration === arc?.metadata.generation && arc;
    },
    120_000,
  );
  const after = await waitLocallyReady(cluster, KEPT, 'cart');
  expect(await redisCli(cluster, KEPT, after.status?.currentPrimary ?? '', ['GET kept'])).toContain('yes');
  // And the hub is told: an agent that cannot see everything would say that it does not know.
  const query = 'query Agents($id: ID!) { memberCluster(id: $id) { agents { connected inventory } } }';
  await waitFor('the hub hears of it', async () => {
    const { memberCluster } = await fleet.hub.api.request<{
      memberCluster: { agents: readonly { connected: boolean; inventory: string }[] };
    }>(query, { id: fleet.b.memberClusterId });
    return memberCluster.agents.some(({ connected, inventory }) => connected && inventory === 'SYNCED');
  });
});
