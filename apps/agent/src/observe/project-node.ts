/** What the cache keeps of a node: whether its kubelet is heard of, and whether it is being emptied. */
import type { KubeObject } from '#domain';

export interface NodeProjection {
  readonly name: string;
  readonly ready: boolean;
  /** A person's word that nothing runs there (04, proof c). */
  readonly outOfService?: boolean;
  /** No new pod is put there (`kubectl cordon`, and the beginning of a drain). */
  readonly cordoned?: boolean;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

interface NodeFields {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const projectNode = (object: KubeObject): NodeProjection => {
  const conditions = (object as NodeFields).status?.conditions ?? [];
  const ready = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  const outOfService = ((object as NodeFields).spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
  const cordoned = (object as NodeFields).spec?.unschedulable === true;
  return {
    name: object.metadata.name,
    ready,
    ...(outOfService ? { outOfService } : {}),
    ...(cordoned ? { cordoned } : {}),
  };
};
