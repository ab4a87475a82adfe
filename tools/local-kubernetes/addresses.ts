/*
 * Which addresses and names a cluster uses, from its index alone. 198.18.0.0/15 is reserved for tests between
 * networks (RFC 2544), so it meets nobody's own addresses:
 *   198.18.INDEX.1             host side of the bridge: API server 6443, DNS 53, and the hub as pods see it
 *   198.18.INDEX.(10+N)        node N
 *   198.18.(40+INDEX*10+N).0   pods of node N
 *   198.19.INDEX.0             services
 *   127.0.0.(10+INDEX)         etcd and the control plane's own ports
 * Invariant: no two of them meet for INDEX 1..20 and N 1..9; without it two runs side by side would share a subnet.
 */
export const HIGHEST_INDEX = 20;
export const MOST_NODES = 9;
export const TEST_NETWORK = '198.18.0.0/15';

export interface ClusterAddresses {
  host: string;
  bridge: string;
  services: string;
  /** First address of the services: the API server's `kubernetes` service. */
  apiService: string;
  loopback: string;
  apiServerUrl: string;
}

export interface NodeAddresses {
  ip: string;
  pods: string;
  /** Host side of the node's interface; Linux allows 15 characters. */
  link: string;
  cgroup: string;
}

export function clusterAddresses(index: number): ClusterAddresses {
  const host = `198.18.${index}.1`;
  return {
    host,
    bridge: `atoll${index}`,
    services: `198.19.${index}.0/24`,
    apiService: `198.19.${index}.1`,
    loopback: `127.0.0.${10 + index}`,
    apiServerUrl: `https://${host}:6443`,
  };
}

export function nodeAddresses(index: number, node: number): NodeAddresses {
  return {
    ip: `198.18.${index}.${10 + node}`,
    pods: `198.18.${40 + index * 10 + node}.0/24`,
    link: `atoll${index}n${node}`,
    cgroup: `atoll-${index}-${node}`,
  };
}
