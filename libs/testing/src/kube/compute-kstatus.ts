/**
 * What kstatus makes of a custom resource, the rules that `kubectl wait`, Flux, Argo CD and Helm build on: deletion, then
 * the generation, then Reconciling and Stalled in the order in which they stand, then Ready. An oracle for tests, written
 * after sigs.k8s.io/cli-utils, pkg/kstatus/status.
 */
export type KstatusResult = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

export interface KstatusObject {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export const computeKstatus = ({ metadata, status = {} }: KstatusObject): KstatusResult => {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { observedGeneration = metadata.generation, conditions = [] } = status;
  if (observedGeneration !== metadata.generation) return 'InProgress';
  const standard = conditions.find(({ type, status: value }) => value === 'True' && Object.hasOwn(STANDARD, type));
  if (standard !== undefined) return STANDARD[standard.type as keyof typeof STANDARD];
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
};

const STANDARD = { Reconciling: 'InProgress', Stalled: 'Failed' } as const;
