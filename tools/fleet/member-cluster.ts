import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../setup/run-command.ts';
import type { GraphqlClient } from './graphql-client.ts';

/** A Kubernetes cluster that exists, and how to reach it. */
export interface KubernetesAccess {
  readonly name: string;
  readonly kubeconfigPath: string;
  readonly context?: string;
  /** Default: the one of the path. */
  readonly kubectlPath?: string;
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
  enrolMemberCluster(input: $input) { memberCluster { id } agent { id } token installCommand userErrors { code message } } }`;
const APPROVE = `mutation Approve($input: ApproveAgentInput!) {
  approveAgent(input: $input) { agent { id state } userErrors { code message } } }`;
const AGENTS = `query Agents($id: ID!) { memberCluster(id: $id) { agents { id state connected inventory } } }`;

type Enrolment = UserErrors & {
  memberCluster: { id: string };
  agent: { id: string };
  token: string;
  installCommand: string;
};
interface AgentState {
  readonly memberCluster: {
    readonly agents: readonly { id: string; state: string; connected: boolean; inventory: string }[];
  };
}

/**
 * The printed command, run by a shell as it is: what a person types besides (which cluster, which image) is added by functions
 * of the programs' names, the token comes on standard input.
 */
async function runInstallCommand(
  enrolment: Enrolment,
  cluster: KubernetesAccess,
  install: AgentInstall,
): Promise<void> {
  const colon = install.agentImage.lastIndexOf(':');
  const image = `image.repository=${install.agentImage.slice(0, colon)},image.tag=${install.agentImage.slice(colon + 1)}`;
  const script = [
    'kubectl() { command "$KUBECTL" ${CONTEXT:+--context "$CONTEXT"} "$@"; }',
    'helm() { command "$HELM" "$@" ${CONTEXT:+--kube-context "$CONTEXT"} --set "$IMAGE"; }',
    enrolment.installCommand,
  ].join('\n');
  await runCommand(['sh', '-c', script], {
    cwd: dirname(resolve(install.charts ?? 'helm')),
    input: enrolment.token,
    env: {
      ...process.env,
      KUBECONFIG: resolve(cluster.kubeconfigPath),
      KUBECTL: cluster.kubectlPath ?? 'kubectl',
      HELM: install.helm,
      CONTEXT: cluster.context ?? '',
      IMAGE: image,
    },
  });
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
 * Enrols the cluster as a user does: the mutation, the command it answers (plus the image), approval,
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
  await runInstallCommand(enrolment, cluster, install);
  const memberClusterId = enrolment.memberCluster.id;
  await waitForAgent(api, memberClusterId, (agent) => agent.state === 'PENDING_APPROVAL', 'PENDING_APPROVAL');
  const approved = await api.request<{ approveAgent: UserErrors }>(APPROVE, { input: { agentId: enrolment.agent.id } });
  expectNoUserErrors(approved.approveAgent);
  await waitForAgent(api, memberClusterId, (agent) => agent.connected && agent.inventory === 'SYNCED', 'connected');
  return { memberClusterId, agentId: enrolment.agent.id, installCommand: enrolment.installCommand };
}
