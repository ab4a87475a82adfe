/** A string or number that is only assignable from a value of the same kind, so that ids are never mixed up. */
type Brand<T, Name extends string> = T & { readonly __brand: Name };

/** The hub's identity of a pushed object: a UUIDv7, made once by the hub. */
export type HubUid = Brand<string, 'HubUid'>;
/** The id of what one RedisCluster holds. hubUid of a pushed object, metadata.uid of a hand-made one, or the annotation. */
export type DataSetId = Brand<string, 'DataSetId'>;
export type AgentId = Brand<string, 'AgentId'>;
export type MemberClusterId = Brand<string, 'MemberClusterId'>;
export type ProjectId = Brand<string, 'ProjectId'>;
/** Random id of the hub's database lineage. It changes when a backup is restored. */
export type HubEpoch = Brand<string, 'HubEpoch'>;

export const asHubUid = (value: string): HubUid => value as HubUid;
export const asDataSetId = (value: string): DataSetId => value as DataSetId;
export const asAgentId = (value: string): AgentId => value as AgentId;
export const asMemberClusterId = (value: string): MemberClusterId => value as MemberClusterId;
export const asProjectId = (value: string): ProjectId => value as ProjectId;
export const asHubEpoch = (value: string): HubEpoch => value as HubEpoch;

/** Where a namespaced Kubernetes object lives. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** One text for a key, as used by queues and maps. */
export const formatObjectKey = (key: ObjectKey): string => `${key.namespace}/${key.name}`;

/** Of `namespace/name`. */
export const parseObjectKey = (text: string): ObjectKey => {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
};

/** Key of a namespaced object. */
export const objectKeyOf = ({
  metadata: { namespace = '', name },
}: {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}): ObjectKey => ({ namespace, name });
