/**
 * The one place that decides who may do what. A viewer holds roles, each for one project or for the whole fleet (null).
 * VIEWER reads, OPERATOR also changes RedisClusters, ADMIN also member clusters (which takes the fleet-wide binding).
 * Reads take `visibleProjects` into their SQL, so that what a viewer may not see is neither counted nor named; a write to
 * it answers NOT_FOUND, and FORBIDDEN only where the viewer could read it anyway.
 */
export type Role = 'ADMIN' | 'OPERATOR' | 'VIEWER';

export interface RoleBinding {
  readonly role: Role;
  /** null: every project, and what belongs to none. */
  readonly projectId: string | null;
}

/** Who sent the request. */
export interface Viewer {
  readonly principalId: string;
  readonly name: string;
  readonly kind: string;
  readonly bindings: readonly RoleBinding[];
}

/** A request as use cases see it. */
export interface Caller {
  readonly viewer: Viewer;
  readonly requestId: string;
}

const RANK: Readonly<Record<Role, number>> = { VIEWER: 1, OPERATOR: 2, ADMIN: 3 };

/** The projects whose objects the viewer may read; 'ALL' includes what belongs to no project. */
export function visibleProjects(viewer: Viewer): 'ALL' | readonly string[] {
  const ids = viewer.bindings.map((binding) => binding.projectId);
  return ids.includes(null) ? 'ALL' : ids.filter((id) => id !== null);
}

/** True when the viewer has at least this role in the project. */
export function hasRole(viewer: Viewer, role: Role, projectId: string): boolean {
  return viewer.bindings.some(
    (binding) => (binding.projectId === null || binding.projectId === projectId) && RANK[binding.role] >= RANK[role],
  );
}

/** True when the viewer has at least this role over the whole fleet. */
export const hasFleetRole = (viewer: Viewer, role: Role): boolean =>
  viewer.bindings.some((binding) => binding.projectId === null && RANK[binding.role] >= RANK[role]);

/** True when the viewer has at least this role in any project, as it takes for what belonged to one and is gone. */
export const hasRoleAnywhere = (viewer: Viewer, role: Role): boolean =>
  viewer.bindings.some((binding) => RANK[binding.role] >= RANK[role]);

export const mayRead = (viewer: Viewer, projectId: string): boolean => hasRole(viewer, 'VIEWER', projectId);
