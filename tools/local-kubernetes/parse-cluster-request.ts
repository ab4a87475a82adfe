import type { ClusterRequest } from './local-kubernetes.ts';

/** "a:3" → three nodes, "b" → one. */
export function parseClusterRequest(text: string, shortGracePeriods: boolean): ClusterRequest {
  const match = /^([a-z][a-z0-9-]*)(?::([1-9]))?$/.exec(text);
  if (!match) throw new Error(`"${text}" is not NAME:NODES, such as a:3`);
  return { name: match[1] ?? '', nodes: Number(match[2] ?? 1), shortGracePeriods };
}
