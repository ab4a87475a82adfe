export { computeKstatus, type KstatusResult } from './compute-kstatus.ts';
export { connectFakeKube } from './connect-fake-kube.ts';
export { FakeKubeServer, type FakeKubeServerOptions } from './fake-kube-server.ts';
export { KUBE_CONTRACT } from './kube-contract.ts';
export type { KubeContractCase, KubeContractWorld } from './kube-contract-case.ts';
export type { FaultKind, KubeFault, SeenRequest } from './kube-faults.ts';
export { refuseUndeclared } from './refuse-undeclared.ts';
export { type StoreKey } from './kube-store.ts';
export { StatusError } from './status-error.ts';
