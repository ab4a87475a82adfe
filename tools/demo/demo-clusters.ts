import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
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
const AGENT_BUNDLE = 'dist/agent/agent.mjs';
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
  const { path: binary } = await ensureKubernetesBinary(log);
  const members = names.map((name) => ({ name, kubeconfigPath: kubernetes.cluster(name).kubeconfigPath }));
  return {
    members,
    hubHost: kubernetes.cluster('berlin').hostAddress,
    install: (member) => ({ helm, agentImage: agent.reference, region: REGIONS[names.indexOf(member.name)] ?? 'eu' }),
    kubectl: (member) => kubectlOf([binary, 'kubectl'], member.kubeconfigPath),
    stop: () => kubernetes.stop(),
  };
}

/** The default for clusters of `npm run local-kubernetes`: the first address of this machine in the test range. */
function defaultHubHost(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const bridge = addresses.find((each) => each.family === 'IPv4' && each.address.startsWith('198.18.'));
  if (bridge) return bridge.address;
  throw new Error(
    '--hub-address is missing: under which name or address do the pods of these clusters reach this machine?',
  );
}

/** Clusters that exist: the agent is installed there with Helm as a user would. What the demo made stays until uninstalled. */
export async function existingClusters(options: DemoOptions, log: Log): Promise<DemoClusters> {
  const kubeconfigPath = options.kubeconfig ?? '';
  if (!existsSync(kubeconfigPath)) throw new Error(`${kubeconfigPath}: no such kubeconfig file`);
  const helm = await ensureHelm(log);
  const hubHost = options.hubAddress ?? defaultHubHost();
  const members = options.contexts.map((context) => ({ name: context, kubeconfigPath, context }));
  const agentImage = options.agentImage ?? (await buildAgentImage({ bundlePath: AGENT_BUNDLE, log })).reference;
  return {
    members,
    hubHost,
    install: () => ({ helm, agentImage }),
    kubectl: (member) => kubectlOf(['kubectl'], member.kubeconfigPath, member.context),
    stop: async () => {
      log(
        'the clusters were yours before and stay as they are: helm uninstall atoll-agent -n atoll-system removes the agent',
      );
    },
  };
}
