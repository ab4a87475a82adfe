import { existsSync } from 'node:fs';
import { kubectlOf, type Kubectl } from '../fleet/connect-redis.ts';
import type { AgentInstall, KubernetesAccess } from '../fleet/member-cluster.ts';
import {
  buildAgentImage,
  ensureEngineImage,
  ensureHelm,
  ensureKubernetesBinary,
  LocalKubernetes,
} from '../local-kubernetes/index.ts';
import type { DemoOptions } from './demo-options.ts';

/** The member clusters of a demo, its own or existing ones. */
export interface DemoClusters {
  readonly members: readonly KubernetesAccess[];
  /** Under this name or address their pods reach this machine. */
  readonly hubHost: string;
  install(member: KubernetesAccess): AgentInstall;
  kubectl(member: KubernetesAccess): Kubectl;
  stop(): Promise<void>;
}

type Log = (line: string) => void;
const AGENT_BUNDLE = 'dist/agent/agent.cjs';
const REGIONS = ['eu', 'us', 'asia'];

/** Two clusters of one node each, started now and ended with the demo. */
export async function localClusters(log: Log): Promise<DemoClusters> {
  const engine = await ensureEngineImage('redis:8.0', log);
  if (!('path' in engine)) throw new Error(`the image redis:8.0 cannot be built: ${engine.reason}`);
  const agent = await buildAgentImage({ bundlePath: AGENT_BUNDLE, log });
  const helm = await ensureHelm(log);
  const names = ['berlin', 'boston'];
  const clusters = names.map((name) => ({ name, nodes: 1 }));
  const kubernetes = await LocalKubernetes.start({ clusters, images: [engine.path, agent.path], log });
  const { path: binary, kubectlPath } = await ensureKubernetesBinary(log);
  const members = names.map((name) => ({ name, kubeconfigPath: kubernetes.cluster(name).kubeconfigPath, kubectlPath }));
  return {
    members,
    hubHost: kubernetes.cluster('berlin').hostAddress,
    install: (member) => ({ helm, agentImage: agent.reference, region: REGIONS[names.indexOf(member.name)] ?? 'eu' }),
    kubectl: (member) => kubectlOf([binary, 'kubectl'], member.kubeconfigPath),
    stop: () => kubernetes.stop(),
  };
}

/** What only clusters of `npm run local-kubernetes` have by themselves: an agent image, and an address of this machine. */
async function localDefaults(
  options: DemoOptions,
  log: Log,
): Promise<{ agentImage: string; hubHost: string; kubectl: readonly string[]; kubectlPath: string } | undefined> {
  const local = await LocalKubernetes.attach(options.contexts);
  if (local === undefined) return undefined;
  const agent = await buildAgentImage({ bundlePath: AGENT_BUNDLE, log });
  for (const cluster of local.clusters) await cluster.loadImage(agent.path);
  const { path: binary, kubectlPath } = await ensureKubernetesBinary(log);
  const hubHost = local.clusters[0]?.hostAddress ?? '';
  await local.stop(); // lets go of them; they run on
  return { agentImage: agent.reference, hubHost, kubectl: [binary, 'kubectl'], kubectlPath };
}

const missing = (option: string, why: string): Error =>
  new Error(`${option} is missing; only clusters of "npm run local-kubernetes" have a default. ${why}`);

interface ExistingAccess {
  readonly agentImage: string;
  readonly hubHost: string;
  readonly kubectl: readonly string[];
  readonly kubectlPath: string;
}

async function accessOf(options: DemoOptions, log: Log): Promise<ExistingAccess> {
  const { agentImage, hubAddress: hubHost } = options;
  if (agentImage !== undefined && hubHost !== undefined) {
    return { agentImage, hubHost, kubectl: ['kubectl'], kubectlPath: 'kubectl' };
  }
  const defaults = await localDefaults(options, log);
  if (defaults !== undefined) return { ...defaults, ...(agentImage && { agentImage }), ...(hubHost && { hubHost }) };
  if (agentImage === undefined) throw missing('--agent-image', 'Name one that these clusters can pull.');
  throw missing('--hub-address', 'Under which name or address do their pods reach this machine?');
}

/** Clusters that exist: the agent is installed there with Helm as a user would. What the demo made stays until uninstalled. */
export async function existingClusters(options: DemoOptions, log: Log): Promise<DemoClusters> {
  const kubeconfigPath = options.kubeconfig ?? '';
  if (!existsSync(kubeconfigPath)) throw new Error(`${kubeconfigPath}: no such kubeconfig file`);
  const { agentImage, hubHost, kubectl, kubectlPath } = await accessOf(options, log);
  const helm = await ensureHelm(log);
  return {
    members: options.contexts.map((context) => ({ name: context, kubeconfigPath, context, kubectlPath })),
    hubHost,
    install: () => ({ helm, agentImage }),
    kubectl: (member) => kubectlOf(kubectl, member.kubeconfigPath, member.context),
    stop: async () => {
      log(
        'these clusters run on as they are; "helm uninstall atoll-agent -n atoll-system" removes the agent, and Redis stays',
      );
    },
  };
}
