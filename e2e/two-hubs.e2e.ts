import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimPort } from '#testing';
import { startHub, type HubProcess } from '../tools/fleet/hub-process.ts';
import {
  createRedisCluster,
  isReady,
  mutateRedisCluster,
  readRedisCluster,
  waitForRedisCluster,
} from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { makeNamespace, waitFor } from './member.ts';
import { scaleAgent } from './outage.ts';
import { SENTINEL_INPUT } from './specs.ts';

const NAMESPACE = 'two-hubs';
let fleet: Fleet;
let second: HubProcess;
let secondAgentPort: number;

/**
 * Both replicas stand behind one address, as behind a balancer: the agents' public address is the first hub's. The
 * test moves an agent by cutting its member cluster off from that port and sending it to the other through a redirect
 * of the node's kernel, so that the agent itself is configured as ever.
 */
beforeAll(async () => {
  fleet = await sharedFleet();
  await Promise.all([makeNamespace(fleet.a.cluster, NAMESPACE), makeNamespace(fleet.b.cluster, NAMESPACE)]);
  const tls = join(fleet.hubDataDir, 'tls');
  secondAgentPort = await claimPort();
  second = await startHub({
    dataDir: mkdtempSync(join(tmpdir(), 'atoll-e2e-hub-two-')),
    publicHost: fleet.a.cluster.hostAddress,
    replicaName: 'two',
    agentPort: secondAgentPort,
    env: {
      DATABASE_URL: fleet.hub.databaseUrl,
      ATOLL_TLS_CA_FILE: fleet.hub.caFile,
      ATOLL_TLS_CERT_FILE: join(tls, 'server.crt'),
      ATOLL_TLS_KEY_FILE: join(tls, 'server.key'),
      ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: fleet.hub.adminTokenFile,
      ATOLL_PUBLIC_AGENT_ADDRESS: fleet.hub.agentAddress,
    },
  });
});

const port = (address: string): string => address.slice(address.lastIndexOf(':') + 1);

/** Sends connections of b's node and pods to the second hub although they dial the first. */
async function redirect(on: boolean): Promise<void> {
  const node = fleet.b.cluster.node(1);
  const host = fleet.a.cluster.hostAddress;
  const rules = `add table ip atoll_redirect
add chain ip atoll_redirect pre { type nat hook prerouting priority -150 ; }
add rule ip atoll_redirect pre ip daddr ${host} tcp dport ${port(fleet.hub.agentAddress)} dnat to ${host}:${secondAgentPort}`;
  const command = on ? rules.replaceAll('\n', ' ; ').split(' ; ') : ['delete table ip atoll_redirect'];
  for (const line of on ? rules.split('\n') : command) {
    const { exitCode, stderr } = await node.exec(['nft', line]);
    if (exitCode !== 0) throw new Error(`nft ${line}: ${stderr}`);
  }
  // a new pod dials anew, through the changed path
  await scaleAgent(fleet.b.cluster, 0);
  await scaleAgent(fleet.b.cluster, 1);
}

afterAll(async () => {
  await redirect(false);
  await second.stop();
  await cleanUp(fleet, fleet.a, NAMESPACE);
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

it('two hubs on one PostgreSQL, an agent at each: a mutation on either reaches any agent', async () => {
  await redirect(true);
  const sessions = '{ memberClusters(first: 10) { edges { node { id agents { connected replica } } } } }';
  interface Sessions {
    readonly memberClusters: {
      readonly edges: readonly {
        readonly node: {
          readonly id: string;
          readonly agents: readonly { readonly connected: boolean; readonly replica: string | null }[];
        };
      }[];
    };
  }
  await waitFor('one agent at each hub', async () => {
    const { memberClusters } = await second.api.request<Sessions>(sessions);
    const replicaOf = (id: string): unknown =>
      memberClusters.edges.find((edge) => edge.node.id === id)?.node.agents.find((agent) => agent.connected)?.replica;
    return replicaOf(fleet.a.memberClusterId) === 'a' && replicaOf(fleet.b.memberClusterId) === 'two';
  });

  const spec = { ...SENTINEL_INPUT, mode: 'STANDALONE', size: 1 };
  const cases = [
    { hub: fleet.hub, other: second, member: fleet.b, name: 'from-a-to-b' },
    { hub: second, other: fleet.hub, member: fleet.a, name: 'from-two-to-a' },
  ];
  for (const { hub, other, member, name } of cases) {
    const { id } = await createRedisCluster(hub.api, {
      memberClusterId: member.memberClusterId,
      namespace: NAMESPACE,
      name,
      spec,
    });
    const view = await waitForRedisCluster(other.api, id, isReady, { what: `${name} Ready, seen from the other hub` });
    expect(view.delivery.state).toBe('APPLIED');
    const { userErrors } = await mutateRedisCluster(other.api, 'delete', { id, expectedGeneration: view.generation });
    expect(userErrors).toEqual([]);
    await waitFor(`${name} to be gone from both`, async () => (await readRedisCluster(hub.api, id)) === undefined);
  }
});
