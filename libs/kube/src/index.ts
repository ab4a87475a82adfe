/**
 * The only way to the Kubernetes API.
 *   const client = createKubeClient(loadKubeConnection({ kubeconfigPath }), { userAgent: 'atoll-agent/0.1.0' })
 *   startReflector({ client, resource: RESOURCE.pod, project, … }): Reflector      cache of projections, never stops
 *   startLeaseElector({ client, namespace, name, identity, … }): LeaseElector      leader election with a fence
 *   ensureCustomResourceDefinition({ client, definition, … }): Promise<EnsureCrdResult>
 *   readCrdState(client, resource): Promise<CrdState>
 *   fieldOwners(object.metadata.managedFields, 'spec'): FieldOwner[]
 */
export * from './custom-resource-definition.ts';
export * from './field-owner.ts';
export * from './kube-client.ts';
export * from './kube-connection.ts';
export * from './kube-error.ts';
export * from './kube-resource.ts';
export * from './lease.ts';
export * from './reflector.ts';
