import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../setup/run-command.ts';
import type { GraphqlClient } from './graphql-client.ts';

/** A Kubernetes cluster that exists, and how to reach it. */
export interface KubernetesAccess {
  readonly name: string;
  readonly kubeconfigPath: string;
  readonly context?: string;
}

export interface AgentInstall {
  readonly helm: string;
  /** `repository:tag` of an image that the cluster has or can pull. */
  readonly agentImage: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly region?: string;
  /** Folder of the charts; absent: those of this tree. */
  readonly charts?: string;
  /** `host:port` of the hub, when the cluster sees it under another address than the default one. */
  readonly hubAddress?: string;
}

export interface EnrolledCluster {
  readonly memberClusterId: string;
  readonly agentId: string;
  readonly installCommand: string;
}

interface UserErrors {
  readonly userErrors: readonly { readonly code: string; readonly message: string }[];
}

/** Throws when a mutation answered with user errors. */
export function expectNoUserErrors<T extends UserErrors>(payload: T): T {
  if (payload.userErrors.length > 0) {
    throw new Error(payload.userErrors.map((each) => `${each.code}: ${each.message}`).join('; '));
  }
  return payload;
}

const ENROL = `mutation Enrol($input: EnrolMemberClusterInput!) {
  enrolMemberCluster(input: $input) { memberCluster { id } agent { id } installCommand userErrors { code message } } }`;
const APPROVE = `mutation Approve($input: ApproveAgentInput!) {
  approveAgent(input: $input) { agent { id state } userErrors { code message } } }`;
const AGENTS = `query Agents($id: ID!) { memberCluster(id: $id) { agents { id state connected inventory } } }`;

type Enrolment = UserErrors & { memberCluster: { id: string }; agent: { id: string }; installCommand: string };
interface AgentState {
  readonly memberCluster: {
    readonly agents: readonly { id: string; state: string; connected: boolean; inventory: string }[];
  };
}

/** Splits a shell command of plain and single-quoted words, as the hub prints it. */
export function splitCommand(command: string): string[] {
  const joined = command.replaceAll('\\\n', ' ');
  return [...joined.matchAll(/(?:'([^']*)'|[^\s'])+/g)].map((match) => match[0].replaceAll("'", ''));
}

async function waitForAgent(
  api: GraphqlClient,
  memberClusterId: string,
  accept: (agent: AgentState['memberCluster']['agents'][number]) => boolean,
  what: string,
): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (performance.now() < deadline) {
    const { memberCluster } = await api.request<AgentState>(AGENTS, { id: memberClusterId });
    if (memberCluster.agents.some(accept)) return;
    await sleep(200);
  }
  throw new Error(`the agent of ${memberClusterId} did not become ${what} within 120 s`);
}

/**
 * Enrols the cluster as a user does: the mutation, the `helm install` command it answers (plus the image), approval,
 * and the wait until the agent is connected with a synced inventory.
 */
export async function enrolCluster(
  api: GraphqlClient,
  cluster: KubernetesAccess,
  install: AgentInstall,
): Promise<EnrolledCluster> {
  const input = {
    name: cluster.name,
    labels: install.labels ?? {},
    ...(install.region === undefined ? {} : { region: install.region }),
    ...(install.hubAddress === undefined ? {} : { hubAddress: install.hubAddress }),
  };
  const { enrolMemberCluster } = await api.request<{ enrolMemberCluster: Enrolment }>(ENROL, { input });
  const enrolment = expectNoUserErrors(enrolMemberCluster);
  const { charts = 'helm' } = install;
  const [, ...args] = splitCommand(enrolment.installCommand).map((word) => word.replace(/^helm\//, `${charts}/`));
  const colon = install.agentImage.lastIndexOf(':');
  await runCommand([
    install.helm,
    ...args,
    '--kubeconfig',
    cluster.kubeconfigPath,
    ...(cluster.context === undefined ? [] : ['--kube-context', cluster.context]),
    '--set',
    `image.repository=${install.agentImage.slice(0, colon)},image.tag=${install.agentImage.slice(colon + 1)}`,
  ]);
  const memberClusterId = enrolment.memberCluster.id;
  await waitForAgent(api, memberClusterId, (agent) => agent.state === 'PENDING_APPROVAL', 'PENDING_APPROVAL');
  const approved = await api.request<{ approveAgent: UserErrors }>(APPROVE, { input: { agentId: enrolment.agent.id } });
  expectNoUserErrors(approved.approveAgent);
  await waitForAgent(api, memberClusterId, (agent) => agent.connected && agent.inventory === 'SYNCED', 'connected');
  return { memberClusterId, agentId: enrolment.agent.id, installCommand: enrolment.installCommand };
}
