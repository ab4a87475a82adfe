/**
 * The only way to the Kubernetes API.
 *   const client = createKubeClient(await loadKubeConnection({ kubeconfigPath }), { userAgent: 'atoll-agent/0.1.0' })
 *   startReflector({ client, resource: RESOURCE.pod, project, … }): Reflector      cache of projections, never stops
 *   joinReflectors(reflectors): Reflector      several namespaces as one picture; emptyWhereGone(client, namespace) for each
 *   startLeaseElector({ client, namespace, name, identity, … }): LeaseElector      leader election with a fence
 *   ensureCustomResourceDefinition({ client, definition, … }): Promise<EnsureCrdResult>
 *   readCrdState(client, resource): Promise<CrdState>
 *   fieldOwners(object.metadata.managedFields, 'spec'): FieldOwner[]   valueAtPath(object, path), withoutPaths(object, paths)
 *   withValuesAt(object, source, paths)
 */
export { type Backoff, createBackoff, pause } from './backoff.ts';
export { createKubeClient } from './create-kube-client.ts';
export * from './custom-resource-definition.ts';
export {
  ensureCustomResourceDefinition,
  type EnsureCrdOptions,
  type EnsureCrdResult,
} from './ensure-custom-resource-definition.ts';
export { emptyWhereGone } from './empty-where-gone.ts';
export * from './field-owner.ts';
export { valueAtPath, withoutPaths, withValuesAt } from './field-path.ts';
export { joinReflectors } from './join-reflectors.ts';
export * from './kube-client.ts';
export * from './kube-connection.ts';
export * from './kube-error.ts';
export * from './kube-resource.ts';
export * from './lease.ts';
export { loadKubeConnection, type LoadKubeConnectionOptions } from './load-kube-connection.ts';
export { readCrdState } from './read-crd-state.ts';
export * from './reflector.ts';
export { startLeaseElector } from './start-lease-elector.ts';
export { startReflector } from './start-reflector.ts';
