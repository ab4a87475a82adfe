/*
 * Which packets a node drops, as the text of one nftables table in the node's own network namespace.
 * Decided from the node's partitions and the addresses the whole cluster is cut off from. Both directions are
 * dropped, established connections too, so that nobody gets a reset: the other side just falls silent.
 * Invariant: the table is always written whole, so healing cannot leave a rule behind.
 */
import { clusterAddresses, nodeAddresses } from './addresses.ts';

/** The other side of a partition; a number is another node of the same cluster. */
export type PartitionTarget = 'apiServer' | 'hub' | 'all' | number;

export interface CutOff {
  address: string;
  port: number;
}

const API_SERVER_PORT = 6443;
const DNS_PORT = 53;

/** nft script that replaces the node's table of dropped packets. */
export function renderPartitionRules(
  index: number,
  targets: readonly PartitionTarget[],
  cutOffs: readonly CutOff[],
): string {
  const rules = [
    ...targets.flatMap((target) => rulesFor(index, target)),
    ...cutOffs.flatMap(({ address, port }) => [
      `ip daddr ${address} tcp dport ${port} drop`,
      `ip saddr ${address} tcp sport ${port} drop`,
    ]),
  ];
  const lines = ['table inet atoll', 'delete table inet atoll'];
  if (rules.length === 0) return `${lines.join('\n')}\n`;
  lines.push('table inet atoll {', '  chain cut {', ...rules.map((rule) => `    ${rule}`), '  }');
  for (const hook of ['input', 'forward', 'output']) {
    lines.push(`  chain ${hook} {`, `    type filter hook ${hook} priority 0; policy accept;`, '    jump cut', '  }');
  }
  return `${[...lines, '}'].join('\n')}\n`;
}

function rulesFor(index: number, target: PartitionTarget): string[] {
  const { host } = clusterAddresses(index);
  if (target === 'all') return ['iifname "eth0" drop', 'oifname "eth0" drop'];
  if (target === 'apiServer') {
    return [
      `ip daddr ${host} tcp dport ${API_SERVER_PORT} drop`,
      `ip saddr ${host} tcp sport ${API_SERVER_PORT} drop`,
      `ip saddr ${host} tcp dport 10250 drop`, // exec and logs are calls from the API server
    ];
  }
  if (target === 'hub') {
    // The hub is whatever the node reaches on the host besides API server and DNS; calls from the host go on.
    const others = `{ ${API_SERVER_PORT}, ${DNS_PORT} }`;
    return [
      `ip daddr ${host} tcp dport != ${others} ct direction original drop`,
      `ip saddr ${host} tcp sport != ${others} ct direction reply drop`,
    ];
  }
  const { ip, pods } = nodeAddresses(index, target);
  return [`ip daddr { ${ip}, ${pods} } drop`, `ip saddr { ${ip}, ${pods} } drop`];
}
