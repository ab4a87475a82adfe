/**
 * Enums of the API. GraphQL shows upper-case names; the values are the custom resource's own words, so that no second
 * table between the two can go stale.
 */
import { registerEnumType } from '@nestjs/graphql';

export const EngineTypes = { REDIS: 'Redis', VALKEY: 'Valkey' } as const;
export const Modes = { STANDALONE: 'Standalone', REPLICATION: 'Replication', SENTINEL: 'Sentinel' } as const;
export const StorageTypes = { EPHEMERAL: 'Ephemeral', PERSISTENT_VOLUME: 'PersistentVolume' } as const;
export const DeletionPolicies = {
  DELETE: 'Delete',
  RETAIN_VOLUMES: 'RetainVolumes',
  SNAPSHOT: 'Snapshot',
  DENY: 'Deny',
} as const;
export const DriftPolicies = { REPORT: 'Report', REVERT: 'Revert' } as const;
export const Phases = {
  PENDING: 'Pending',
  CREATING: 'Creating',
  READY: 'Ready',
  UPDATING: 'Updating',
  DEGRADED: 'Degraded',
  ACTION_REQUIRED: 'ActionRequired',
  DELETING: 'Deleting',
  SPEC_REJECTED: 'SpecRejected',
  SUSPENDED: 'Suspended',
  HIBERNATED: 'Hibernated',
} as const;
export const PodRoles = {
  PRIMARY: 'primary',
  REPLICA: 'replica',
  WAITING: 'waiting',
  SENTINEL: 'sentinel',
  UNKNOWN: 'unknown',
} as const;
export const LinkStates = { UP: 'up', DOWN: 'down' } as const;
export const ConditionStatuses = { TRUE: 'True', FALSE: 'False', UNKNOWN: 'Unknown' } as const;
export const DeliveryStates = {
  PENDING: 'PENDING',
  APPLIED: 'APPLIED',
  REJECTED: 'REJECTED',
  CONFLICT: 'CONFLICT',
  WAITING: 'WAITING',
  DELETED_LOCALLY: 'DELETED_LOCALLY',
} as const;
export const SyncStates = {
  IN_SYNC: 'IN_SYNC',
  PENDING: 'PENDING',
  DRIFTED: 'DRIFTED',
  DELETED_LOCALLY: 'DELETED_LOCALLY',
  REJECTED: 'REJECTED',
  CONFLICT: 'CONFLICT',
  WAITING: 'WAITING',
  DELETING: 'DELETING',
} as const;
export type SyncState = keyof typeof SyncStates;
export const ChangeKinds = { CHANGED: 'CHANGED', DELETED: 'DELETED', GAP: 'GAP' } as const;
export type ChangeKind = keyof typeof ChangeKinds;

registerEnumType(EngineTypes, { name: 'EngineType' });
registerEnumType(Modes, { name: 'Mode' });
registerEnumType(StorageTypes, { name: 'StorageType' });
registerEnumType(DeletionPolicies, {
  name: 'DeletionPolicy',
  valuesMap: {
    DELETE: { description: 'Pods, volumes and passwords go.' },
    RETAIN_VOLUMES: { description: 'Volumes, passwords and the record of the data set stay.' },
    SNAPSHOT: { description: "A last RDB is written on the primary's volume, which alone is kept." },
    DENY: { description: 'A deletion is refused.' },
  },
});
registerEnumType(DriftPolicies, {
  name: 'DriftPolicy',
  valuesMap: {
    REPORT: { description: 'An edit in the member cluster is shown and left alone.' },
    REVERT: { description: 'An edit in the member cluster is taken back at the next delivery.' },
  },
});
registerEnumType(Phases, { name: 'Phase' });
registerEnumType(PodRoles, { name: 'PodRole' });
registerEnumType(LinkStates, { name: 'LinkState' });
registerEnumType(ConditionStatuses, { name: 'ConditionStatus' });
registerEnumType(DeliveryStates, {
  name: 'DeliveryState',
  description: 'What the agent did with the current generation.',
});
registerEnumType(SyncStates, {
  name: 'SyncState',
  description: 'How the object in the member cluster compares with what the hub wants.',
  valuesMap: {
    IN_SYNC: { description: 'The current generation is applied, and nobody owns a field of it with another value.' },
    PENDING: { description: 'The current generation has not been answered by the agent yet.' },
    DRIFTED: { description: 'Somebody changed fields in the member cluster; accept or revert the drift.' },
    DELETED_LOCALLY: { description: 'Somebody deleted the object in the member cluster; recreate or forget it.' },
    REJECTED: { description: 'The agent or the API server refused it; the delivery says why.' },
    CONFLICT: { description: 'Fields were left to other owners who hold the wanted value or an unknown one.' },
    WAITING: { description: 'The agent waits, for instance for the name to become free.' },
    DELETING: { description: 'A delete or a forget is on its way.' },
  },
});
registerEnumType(ChangeKinds, {
  name: 'RedisClusterChangeKind',
  valuesMap: {
    CHANGED: { description: 'The object as it is now.' },
    DELETED: { description: 'The object is gone; the stream ends.' },
    GAP: { description: 'Changes were missed; what follows is the present state.' },
  },
});
