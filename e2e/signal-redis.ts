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
  const script = [
    'for p in /proc/[0-9]*; do',
    '  { read -r comm < $p/comm; } 2>/dev/null || continue',
    '  case $comm in *-server) ;; *) continue ;; esac',
    `  grep -qs '${uid}' $p/cgroup || continue`,
    `  pid="\${p#/proc/}"; ${line}; exit $?`,
    'done',
    'exit 3',
  ].join('\n');
  const { exitCode, stderr } = await node.exec(['sh', '-c', script]);
  if (exitCode !== 0) throw new Error(`${line} for ${pod}: exit code ${exitCode} ${stderr}`);
}
