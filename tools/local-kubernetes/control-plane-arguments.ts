import { join } from 'node:path';
import { clusterAddresses } from './addresses.ts';
import { clusterFolders, type ClusterSpec } from './cluster-spec.ts';

export const CONTROL_PLANE_PARTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'coredns',
  'provisioner',
] as const;
export type ControlPlanePart = (typeof CONTROL_PLANE_PARTS)[number];

/** Arguments of each part, as `--flag value` pairs; what is not named keeps Kubernetes' own default. */
export function controlPlaneArguments(spec: ClusterSpec): Record<ControlPlanePart, string[]> {
  const { root, volumes } = clusterFolders(spec.index);
  return {
    etcd: etcdArguments(spec),
    'kube-apiserver': apiServerArguments(spec),
    'kube-controller-manager': controllerManagerArguments(spec),
    'kube-scheduler': flags({ ...ownCredentials(root, 'kube-scheduler'), ...ownAddress(spec) }),
    coredns: ['-conf', join(root, 'Corefile')],
    provisioner: flags({ kubeconfig: join(root, 'provisioner.kubeconfig'), folder: volumes }),
  };
}

function etcdArguments(spec: ClusterSpec): string[] {
  const { loopback } = clusterAddresses(spec.index);
  const client = `http://${loopback}:2379`;
  const peer = `http://${loopback}:2380`;
  const etcd = flags({
    name: spec.name,
    'data-dir': join(clusterFolders(spec.index).root, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `${spec.name}=${peer}`,
    'log-level': 'warn',
  });
  return [...etcd, '--unsafe-no-fsync']; // the data is thrown away with the cluster
}

function apiServerArguments(spec: ClusterSpec): string[] {
  const { host, loopback, services } = clusterAddresses(spec.index);
  const { pki } = clusterFolders(spec.index);
  return flags({
    'etcd-servers': `http://${loopback}:2379`,
    'bind-address': host,
    'advertise-address': host,
    'client-ca-file': join(pki, 'ca.crt'),
    'tls-cert-file': join(pki, 'apiserver.crt'),
    'tls-private-key-file': join(pki, 'apiserver.key'),
    'kubelet-client-certificate': join(pki, 'kubelet-client.crt'),
    'kubelet-client-key': join(pki, 'kubelet-client.key'),
    'kubelet-certificate-authority': join(pki, 'ca.crt'),
    'kubelet-preferred-address-types': 'InternalIP',
    'service-cluster-ip-range': services,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': join(pki, 'sa.pub'),
    'service-account-signing-key-file': join(pki, 'sa.key'),
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'allow-privileged': 'true',
    ...(spec.shortGracePeriods
      ? { 'default-not-ready-toleration-seconds': '10', 'default-unreachable-toleration-seconds': '10' }
      : {}),
  });
}

function controllerManagerArguments(spec: ClusterSpec): string[] {
  const { root, pki } = clusterFolders(spec.index);
  return flags({
    ...ownCredentials(root, 'kube-controller-manager'),
    ...ownAddress(spec),
    'service-account-private-key-file': join(pki, 'sa.key'),
    'root-ca-file': join(pki, 'ca.crt'),
    'cluster-signing-cert-file': join(pki, 'ca.crt'),
    'cluster-signing-key-file': join(pki, 'ca.key'),
    'use-service-account-credentials': 'true',
    'flex-volume-plugin-dir': join(root, 'flex-volume'),
    ...(spec.shortGracePeriods ? { 'node-monitor-grace-period': '8s', 'node-monitor-period': '1s' } : {}),
  });
}

function ownCredentials(root: string, part: ControlPlanePart): Record<string, string> {
  const kubeconfig = join(root, `${part}.kubeconfig`);
  return { kubeconfig, 'authentication-kubeconfig': kubeconfig, 'authorization-kubeconfig': kubeconfig };
}

/** Without leader election: there is one of each, and an outage of the API server must not end it. */
function ownAddress(spec: ClusterSpec): Record<string, string> {
  return { 'bind-address': clusterAddresses(spec.index).loopback, 'leader-elect': 'false' };
}

function flags(values: Record<string, string>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}

/**
 * DNS for pods, on the host's side of the bridge. Names outside the cluster do not exist: nothing leaves the machine,
 * and a clear NXDOMAIN lets a resolver go on with its search list.
 */
export function renderCorefile(spec: ClusterSpec): string {
  const { host } = clusterAddresses(spec.index);
  return `cluster.local:53 in-addr.arpa:53 {
  bind ${host}
  errors
  ready ${host}:8181
  kubernetes {
    kubeconfig ${join(clusterFolders(spec.index).root, 'coredns.kubeconfig')}
    ttl 2
  }
  cache 2
}
.:53 {
  bind ${host}
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;
}
