import { join } from 'node:path';
import { clusterAddresses, nodeAddresses } from './addresses.ts';
import { clusterFolders, nodeFolder, nodeName, PAUSE_REFERENCE, type ClusterSpec } from './cluster-spec.ts';

/** /run is a tmpfs of the node's own, so this is another socket on each node. */
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';

/** For every registry: no image is fetched from outside, and one that is not there fails at once. `server` alone would not do. */
const NO_REGISTRY = '[host."http://127.0.0.1:1"]\n  capabilities = ["pull", "resolve"]\n';

/** File name → text of all configuration files of a node. */
export function nodeConfiguration(spec: ClusterSpec, node: number): Record<string, string> {
  return {
    'containerd.toml': containerdConfiguration(spec, node),
    'kubelet.yaml': toText(kubeletConfiguration(spec, node)),
    'kube-proxy.yaml': toText(kubeProxyConfiguration(spec, node)),
    'cni/10-local.conflist': toText(networkConfiguration(spec, node)),
    'registries/_default/hosts.toml': NO_REGISTRY,
    'resolv.conf': '',
  };
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function containerdConfiguration(spec: ClusterSpec, node: number): string {
  const folder = nodeFolder(spec.index, node);
  // Where root may not lower a process's OOM score, runc dies with "can't get final child's PID from pipe: EOF".
  return `version = 2
root = "${folder}/containerd"
state = "/run/containerd"
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_REFERENCE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${folder}/registries"
`;
}

function kubeletConfiguration(spec: ClusterSpec, node: number): unknown {
  const { pki } = clusterFolders(spec.index);
  const folder = nodeFolder(spec.index, node);
  const name = nodeName(spec.name, node);
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(pki, 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: join(pki, `${name}.crt`),
    tlsPrivateKeyFile: join(pki, `${name}.key`),
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    clusterDomain: 'cluster.local',
    clusterDNS: [clusterAddresses(spec.index).host],
    resolvConf: join(folder, 'resolv.conf'),
    volumePluginDir: join(folder, 'volume-plugins'),
    podLogsDir: join(folder, 'pod-logs'),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${nodeAddresses(spec.index, node).cgroup}`,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    failCgroupV1: false,
    healthzPort: 0,
    makeIPTablesUtilChains: false,
    localStorageCapacityIsolation: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    nodeStatusUpdateFrequency: '2s',
  };
}

function kubeProxyConfiguration(spec: ClusterSpec, node: number): unknown {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: nodeName(spec.name, node),
    clientConnection: { kubeconfig: join(clusterFolders(spec.index).root, 'kube-proxy.kubeconfig') },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    // What does not come from a pod of this node (the ptp plugin names their ends veth…) is masqueraded on its way to a
    // Service: else a pod on another node would answer the host directly, past the node that translated the address.
    detectLocalMode: 'InterfaceNamePrefix',
    detectLocal: { interfaceNamePrefix: 'veth' },
    conntrack: { maxPerCore: 0 }, // the table is the host's, not ours to size
  };
}

function networkConfiguration(spec: ClusterSpec, node: number): unknown {
  return {
    cniVersion: '1.0.0',
    name: nodeName(spec.name, node),
    plugins: [
      {
        type: 'ptp',
        ipam: {
          type: 'host-local',
          dataDir: '/run/cni', // addresses in use are forgotten when the node dies, as its sandboxes are
          ranges: [[{ subnet: nodeAddresses(spec.index, node).pods }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
