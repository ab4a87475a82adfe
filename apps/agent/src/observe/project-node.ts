/** What the cache keeps of a node: whether its kubelet is heard of. */
import type { KubeObject } from '#domain';

export interface NodeProjection {
  readonly name: string;
  readonly ready: boolean;
}

interface NodeFields {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const projectNode = (object: KubeObject): NodeProjection => {
  const conditions = (object as NodeFields).status?.conditions ?? [];
  const ready = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return { name: object.metadata.name, ready };
};
