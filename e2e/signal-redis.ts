import type { LocalCluster } from '../tools/local-kubernetes/index.ts';
import { getItem, type PodItem } from './member.ts';

/**
 * Runs a line of shell with `$pid` set to the server process in the pod, as somebody on its node would: a kill from inside
 * the container spares its first process. Throws when there is no such process.
 */
export async function withServerProcess(
  cluster: LocalCluster,
  namespace: string,
  pod: string,
  line: string,
): Promise<void> {
  const item = await getItem<PodItem>(cluster, namespace, 'pod', pod);
  const nodeName = item?.spec.nodeName ?? '';
  const node = cluster.node(Number(nodeName.slice(nodeName.lastIndexOf('-') + 1)));
  const uid = item?.metadata.uid ?? '';
  const isServer = `grep -qs '${uid}' $p/cgroup && grep -qs 'server' $p/comm`;
  const script = `for p in /proc/[0-9]*; do if ${isServer}; then pid="\${p#/proc/}"; ${line}; exit $?; fi; done; exit 3`;
  const { exitCode, stderr } = await node.exec(['sh', '-c', script]);
  if (exitCode !== 0) throw new Error(`${line} for ${pod}: exit code ${exitCode} ${stderr}`);
}
