import { encodeGlobalId } from '../../platform/graphql/index.ts';
import { listDrift, type Drift } from './drift.rules.ts';
import type { RedisClusterRow } from './redis-cluster.entity.ts';
import type { SyncState } from './redis-cluster.enums.ts';
import type { Delivery, DriftedField, RedisCluster } from './redis-cluster.model.ts';
import { decideSync } from './sync-state.rules.ts';

export const readSpec = (row: RedisClusterRow): Record<string, unknown> =>
  JSON.parse(row.spec) as Record<string, unknown>;

/** The spec to show and to keep in the audit: a text that cannot be read is shown as it is. */
export function showSpec(row: RedisClusterRow): unknown {
  try {
    return readSpec(row);
  } catch {
    return row.spec;
  }
}

/** Nearly all rows have no field that another owns: theirs is not looked for, which would take their spec to be read. */
export function driftOf(row: RedisClusterRow): readonly Drift[] {
  const { foreign_fields: foreignFields, contested } = row;
  if ((foreignFields?.length ?? 0) + (contested?.length ?? 0) === 0) return [];
  try {
    return listDrift({
      spec: readSpec(row),
      foreignFields,
      statusAt: row.status_reported_at,
      contested,
      deliveryAt: row.delivery_updated_at,
    });
  } catch {
    return UNREADABLE;
  }
}

/**
 * The report of an object that cannot be read. It is drift of the whole spec, so that the object shows by its names, does not
 * blank the lists that hold it, and can be reverted, deleted and forgotten like any other.
 */
const UNREADABLE: readonly Drift[] = [
  {
    path: 'spec',
    manager: 'unknown',
    liveValue:
      'UNREADABLE: the hub cannot read what the agent reported of this object. Revert its drift, or delete it.',
    wantedValue: undefined,
  },
];

export const syncOf = (row: RedisClusterRow, drift: readonly Drift[]): SyncState =>
  decideSync({
    deletion: row.deletion,
    deliveryState: row.delivery_state ?? 'PENDING',
    deliveryIsCurrent: row.delivery_generation === row.hub_generation,
    gone: row.gone ?? false,
    createAllowed: row.create_allowed,
    driftCount: drift.length,
  });

export function toRedisCluster(row: RedisClusterRow): RedisCluster {
  return {
    id: encodeGlobalId('RedisCluster', row.hub_uid),
    hubUid: row.hub_uid,
    name: row.name,
    namespace: row.namespace,
    generation: row.hub_generation,
    // Read when it is shown: lists rarely do.
    get spec() {
      return showSpec(row);
    },
    driftPolicy: row.drift_policy,
    delivery: toDelivery(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deleting: row.deletion !== null,
    memberClusterId: row.member_cluster_id,
    projectId: row.project_id,
  };
}

function toDelivery(row: RedisClusterRow): Delivery {
  const drift = driftOf(row);
  return {
    state: row.delivery_state ?? 'PENDING',
    sync: syncOf(row, drift),
    code: row.delivery_code,
    message: row.delivery_message,
    generation: row.delivery_generation ?? row.hub_generation,
    appliedGeneration: row.applied_generation,
    attempts: row.delivery_attempts ?? 0,
    drift: drift.map(toDriftedField),
  };
}

const toDriftedField = (drift: Drift): DriftedField => ({
  path: drift.path,
  manager: drift.manager,
  liveValue: drift.liveValue ?? null,
  wantedValue: drift.wantedValue ?? null,
});
