/** Taking the agent away and bringing it back, as `kubectl scale` does. */
import type { LocalCluster } from '../tools/local-kubernetes/index.ts';
import { kubectl, listItems, waitFor, type PodItem } from './member.ts';

export const AGENT_NAMESPACE = 'atoll-system';

export const agentPods = (cluster: LocalCluster): Promise<PodItem[]> =>
  listItems<PodItem>(cluster, AGENT_NAMESPACE, 'pods', 'app.kubernetes.io/name=atoll-agent');

export async function scaleAgent(cluster: LocalCluster, replicas: number): Promise<void> {
  await kubectl(cluster, ['scale', 'deployment/atoll-agent', '-n', AGENT_NAMESPACE, `--replicas=${replicas}`]);
  await waitFor(`${replicas} agent pods`, async () => {
    const pods = await agentPods(cluster);
    const ready = pods.filter((pod) => pod.status.containerStatuses?.every((each) => each.ready) === true);
    return pods.length === replicas && ready.length === replicas;
  });
}

/** How often the containers of the agent have been restarted, over all its pods. */
export async function agentRestarts(cluster: LocalCluster): Promise<number> {
  const pods = await agentPods(cluster);
  return pods.flatMap((pod) => pod.status.containerStatuses ?? []).reduce((sum, each) => sum + each.restartCount, 0);
}
