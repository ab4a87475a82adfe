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

/** SIGKILL to the agent's process, from outside of its pod: the container is started again by its kubelet. */
export async function killAgent(cluster: LocalCluster): Promise<void> {
  const before = await agentRestarts(cluster);
  for (const { metadata, spec } of await agentPods(cluster)) {
    const nodeName = spec.nodeName ?? '';
    const node = cluster.node(Number(nodeName.slice(nodeName.lastIndexOf('-') + 1)));
    const kill = 'kill -9 "${p#/proc/}"';
    const isAgent = `grep -qs '${metadata.uid}' $p/cgroup && grep -qsE '/app/(start|agent)\\.' $p/cmdline`;
    await node.exec(['sh', '-c', `for p in /proc/[0-9]*; do ${isAgent} && ${kill}; done; true`]);
  }
  await waitFor('the agent is started again', async () => (await agentRestarts(cluster)) > before);
}
