/**
 * The built hub as processes on one PostgreSQL behind a balancer, and member clusters with real agents' links in this
 * process. For what only processes show: their death, their restart, and builds that are not this one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';

import { startHub, type HubOptions, type HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { expectNoUserErrors } from '../../../../tools/fleet/member-cluster.ts';
import { createRedisCluster, readRedisCluster, type RedisClusterView } from '../../../../tools/fleet/redis-cluster.ts';
import { decodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { RuleMember } from '../rules/rule-member.ts';
import { TcpBalancer } from './tcp-balancer.ts';

const ENROL = `mutation E($input: EnrolMemberClusterInput!) { enrolMemberCluster(input: $input) {
  memberCluster { id } agent { id } caCertificate token userErrors { code message } } }`;
const APPROVE = `mutation A($input: ApproveAgentInput!) { approveAgent(input: $input) { userErrors { code message } } }`;
const AGENT = `query A($id: ID!) { memberCluster(id: $id) { agents { state connected } } }`;
export const SPEC_INPUT = { mode: 'STANDALONE', engine: { type: 'REDIS', version: '8.0' }, size: 1 };
const WAIT = { timeout: 30_000, interval: 50 };

export interface ProcessMember {
  readonly member: RuleMember;
  readonly memberClusterId: string;
}

export class ProcessWorld {
  readonly folder: string;
  readonly balancer: TcpBalancer;
  readonly databaseUrl: string;
  readonly members: ProcessMember[] = [];
  readonly #hubs = new Set<HubProcess>();
  #first: HubProcess | undefined;
  #count = 0;

  private constructor(folder: string, balancer: TcpBalancer, databaseUrl: string) {
    this.folder = folder;
    this.balancer = balancer;
    this.databaseUrl = databaseUrl;
  }

  static async start(databaseUrl: string): Promise<ProcessWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'atoll-processes-'));
    return new ProcessWorld(folder, await TcpBalancer.start(), databaseUrl);
  }

  /** One more replica, which has the first one's certificate. The balancer leads to it once it serves. */
  async startHub(
    replicaName: string,
    { ownTls = false, ...options }: Partial<HubOptions> & { readonly ownTls?: boolean } = {},
  ): Promise<HubProcess> {
    const tls = join(this.folder, 'one', 'tls');
    const first = this.#first;
    const like = {
      ATOLL_TLS_CA_FILE: join(tls, 'ca.crt'),
      ATOLL_TLS_CERT_FILE: join(tls, 'server.crt'),
      ATOLL_TLS_KEY_FILE: join(tls, 'server.key'),
    };
    const hub = await startHub({
      dataDir: first === undefined ? join(this.folder, 'one') : join(this.folder, `hub-${(this.#count += 1)}`),
      publicHost: '127.0.0.1',
      replicaName,
      ...options,
      env: {
        DATABASE_URL: this.databaseUrl,
        ATOLL_PUBLIC_AGENT_ADDRESS: `127.0.0.1:0,${this.balancer.address}`,
        ...(first === undefined || ownTls ? {} : like),
        ...(first === undefined ? {} : { ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: first.adminTokenFile }),
        ...options.env,
      },
    });
    this.#first ??= hub;
    this.#hubs.add(hub);
    this.balancer.targets = [...this.balancer.targets, agentPort(hub)];
    return hub;
  }

  /** By SIGTERM it drains: the balancer leads nobody new to it from the signal on. */
  async stopHub(hub: HubProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.balancer.targets = this.balancer.targets.filter((port) => port !== agentPort(hub));
    await hub.stop(signal);
    this.#hubs.delete(hub);
  }

  /** Enrolled, approved and connected. */
  async addMember(hub: HubProcess, name: string): Promise<ProcessMember> {
    const answer = await hub.api.request<{ enrolMemberCluster: Enrolment }>(ENROL, { input: { name, labels: {} } });
    const enrolment = expectNoUserErrors(answer.enrolMemberCluster);
    const settings = {
      hubCa: enrolment.caCertificate,
      token: enrolment.token,
      enrolled: { agentId: decodeGlobalId('Agent', enrolment.agent.id), memberClusterId: '', projectId: '' } as never,
    };
    // Its own way to the hub: cutting one member's connection must not cut all of them.
    const way = { address: this.balancer.address, open: [], cut: () => undefined, stop: () => Promise.resolve() };
    const member = await RuleMember.start(settings, way as never);
    const found = { member, memberClusterId: enrolment.memberCluster.id };
    this.members.push(found);
    member.run();
    await this.untilAgent(hub, found, ({ state }) => state === 'PENDING_APPROVAL');
    const approved = await hub.api.request<{ approveAgent: UserErrors }>(APPROVE, {
      input: { agentId: enrolment.agent.id },
    });
    expectNoUserErrors(approved.approveAgent);
    await this.untilConnected(found);
    return found;
  }

  async untilAgent(
    hub: HubProcess,
    { memberClusterId }: ProcessMember,
    accept: (agent: { readonly state: string; readonly connected: boolean }) => boolean,
  ): Promise<void> {
    await vi.waitFor(async () => {
      const { memberCluster } = await hub.api.request<AgentStates>(AGENT, { id: memberClusterId });
      expect(memberCluster.agents.filter(accept)).toHaveLength(1);
    }, WAIT);
  }

  async untilConnected({ member }: ProcessMember): Promise<void> {
    await vi.waitFor(() => {
      if (!member.isConnected) throw new Error(`not connected: ${member.link.state().lastFailure ?? 'no reason'}`);
    }, WAIT);
  }

  /** Wanted through the API. */
  want(hub: HubProcess, { memberClusterId }: ProcessMember, name: string, size = 1): Promise<RedisClusterView> {
    return createRedisCluster(hub.api, { memberClusterId, namespace: 'default', name, spec: { ...SPEC_INPUT, size } });
  }

  read(hub: HubProcess, id: string): Promise<RedisClusterView | undefined> {
    return readRedisCluster(hub.api, id);
  }

  async untilSync(hub: HubProcess, id: string, sync: string): Promise<RedisClusterView> {
    return await vi.waitFor(async () => {
      const view = await readRedisCluster(hub.api, id);
      expect(view?.delivery.sync).toBe(sync);
      return view as RedisClusterView;
    }, WAIT);
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map(({ member }) => member.end()));
    await Promise.all([...this.#hubs].map((hub) => hub.stop()));
    await this.balancer.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface UserErrors {
  readonly userErrors: readonly { readonly code: string; readonly message: string }[];
}
type Enrolment = UserErrors & {
  readonly memberCluster: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly caCertificate: string;
  readonly token: string;
};
interface AgentStates {
  readonly memberCluster: { readonly agents: readonly { readonly state: string; readonly connected: boolean }[] };
}

export const agentPort = (hub: HubProcess): number => Number(hub.agentAddress.split(':').at(-1));
