import type { ClusterView } from './cluster-view.ts';
export const rotationAsked = (
  _: ClusterView,
): { readonly uid: string; readonly users: readonly string[] | undefined } | undefined => undefined;
