export { ensureKubernetesBinary, type KubernetesBinary } from './ensure-kubernetes-binary.ts';
export { LocalApiServer, LocalCluster, LocalNode, type KubectlOptions } from './local-cluster.ts';
export { LocalKubernetes, type ClusterRequest, type StartOptions } from './local-kubernetes.ts';
export type { BuiltImage } from './oci-image.ts';
export type { PartitionTarget } from './partition-rules.ts';
export { buildAgentImage } from './agent-image.ts';
export { ensureEnginePrograms, type EngineProgram } from './engine-programs.ts';
export { ENGINE_IMAGES, ensureEngineImage, type EngineImage, type UnavailableImage } from './engine-images.ts';
export { ensureHelm } from '../setup/ensure-helm.ts';
