export { ensureKubernetesBinary, type KubernetesBinary } from './ensure-kubernetes-binary.ts';
export { LocalApiServer, LocalCluster, LocalNode, type KubectlOptions } from './local-cluster.ts';
export { LocalKubernetes, type ClusterRequest, type StartOptions } from './local-kubernetes.ts';
export type { PartitionTarget } from './partition-rules.ts';
