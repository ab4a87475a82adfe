/**
 * Which URL a kind lives under. Kubernetes addresses objects by plural, objects carry only apiVersion and kind; this
 * table joins the two for every kind Atoll touches, so that nobody needs a discovery round trip.
 */
import {
  API_GROUP_VERSION,
  REDIS_CLUSTER_KIND,
  REDIS_CLUSTER_PLURAL,
  REDIS_OPERATION_KIND,
  REDIS_OPERATION_PLURAL,
} from '#domain';

export interface KubeResource {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const namespaced = (apiVersion: string, kind: string, plural: string): KubeResource => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});
const clusterWide = (apiVersion: string, kind: string, plural: string): KubeResource => ({
  apiVersion,
  kind,
  plural,
  namespaced: false,
});

/** Every kind Atoll reads or writes. */
export const RESOURCE = {
  pod: namespaced('v1', 'Pod', 'pods'),
  service: namespaced('v1', 'Service', 'services'),
  secret: namespaced('v1', 'Secret', 'secrets'),
  configMap: namespaced('v1', 'ConfigMap', 'configmaps'),
  serviceAccount: namespaced('v1', 'ServiceAccount', 'serviceaccounts'),
  persistentVolumeClaim: namespaced('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  event: namespaced('events.k8s.io/v1', 'Event', 'events'),
  storageClass: clusterWide('storage.k8s.io/v1', 'StorageClass', 'storageclasses'),
  node: clusterWide('v1', 'Node', 'nodes'),
  namespace: clusterWide('v1', 'Namespace', 'namespaces'),
  statefulSet: namespaced('apps/v1', 'StatefulSet', 'statefulsets'),
  deployment: namespaced('apps/v1', 'Deployment', 'deployments'),
  podDisruptionBudget: namespaced('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  networkPolicy: namespaced('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  role: namespaced('rbac.authorization.k8s.io/v1', 'Role', 'roles'),
  roleBinding: namespaced('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'),
  lease: namespaced('coordination.k8s.io/v1', 'Lease', 'leases'),
  customResourceDefinition: clusterWide(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
  ),
  redisCluster: namespaced(API_GROUP_VERSION, REDIS_CLUSTER_KIND, REDIS_CLUSTER_PLURAL),
  redisOperation: namespaced(API_GROUP_VERSION, REDIS_OPERATION_KIND, REDIS_OPERATION_PLURAL),
} as const satisfies Record<string, KubeResource>;

const byKind = new Map<string, KubeResource>(
  Object.values(RESOURCE).map((resource) => [`${resource.apiVersion}/${resource.kind}`, resource]),
);

/** The resource of an object. Throws when the kind is not in the table: that is a bug, not an outage. */
export function resourceOf(object: { readonly apiVersion: string; readonly kind: string }): KubeResource {
  const resource = byKind.get(`${object.apiVersion}/${object.kind}`);
  if (resource === undefined) {
    throw new Error(`libs/kube has no resource for ${object.apiVersion} ${object.kind}; add it to RESOURCE`);
  }
  return resource;
}

/** Where an object lives; `namespace` is ignored for cluster-wide kinds. */
export interface ResourceName {
  readonly namespace?: string;
  readonly name: string;
}

/** `/api/v1/namespaces/NS/pods` or `/apis/GROUP/VERSION/PLURAL`; without a namespace: all namespaces. */
export function collectionPath(resource: KubeResource, namespace?: string): string {
  const root = resource.apiVersion.includes('/') ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}`;
}

/** Path of one object, optionally of a subresource such as `status` or `eviction`. */
export function objectPath(resource: KubeResource, at: ResourceName, subresource?: string): string {
  if (resource.namespaced && !at.namespace) throw new Error(`${resource.kind} ${at.name} needs a namespace`);
  const path = `${collectionPath(resource, at.namespace)}/${encodeURIComponent(at.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
