/** What the running data set was last rendered from, as its own ConfigMap and StatefulSets tell. */
import type { Mode, RedisClusterSnapshot, ResolvedSpec } from '#domain';
import type { ObjectNames } from '#manifests';
import { findChild } from './find-child.ts';

export interface LiveShape {
  readonly mode: Mode | undefined;
  readonly persistenceEnabled: boolean | undefined;
  readonly size: number | undefined;
  readonly sentinels: number | undefined;
  readonly storage: ResolvedSpec['storage'] | undefined;
}

interface StatefulSetFields {
  readonly spec?: {
    readonly replicas?: number;
    readonly volumeClaimTemplates?: readonly {
      readonly spec?: {
        readonly storageClassName?: string;
        readonly resources?: { readonly requests?: { readonly storage?: string } };
      };
    }[];
  };
}

/** Every field is undefined where nothing live tells it, as before the first apply. */
export const readLiveShape = (snapshot: RedisClusterSnapshot, names: ObjectNames): LiveShape => {
  const config = findChild(snapshot, 'ConfigMap', names.config);
  const settings = readSettings(config?.['data']);
  const data = findChild(snapshot, 'StatefulSet', names.redis) as StatefulSetFields | undefined;
  const sentinels = findChild(snapshot, 'StatefulSet', names.sentinel) as StatefulSetFields | undefined;
  const persistence = settings['PERSISTENCE'];
  return {
    mode: MODES.find((mode) => mode === settings['MODE']),
    persistenceEnabled: persistence === undefined ? undefined : persistence === 'on',
    size: Number(settings['REDIS_PODS']) || data?.spec?.replicas,
    sentinels: Number(settings['SENTINEL_PODS']) || sentinels?.spec?.replicas,
    storage: data === undefined ? undefined : readStorage(data),
  };
};

const MODES: readonly Mode[] = ['Standalone', 'Replication', 'Sentinel'];

/** The `NAME=value` lines that the entrypoints read. */
const readSettings = (data: unknown): Readonly<Record<string, string>> => {
  const text = typeof data === 'object' && data !== null ? (data as { settings?: unknown }).settings : undefined;
  if (typeof text !== 'string') return {};
  return Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
};

const readStorage = (statefulSet: StatefulSetFields): ResolvedSpec['storage'] => {
  const claim = statefulSet.spec?.volumeClaimTemplates?.[0]?.spec;
  if (claim === undefined) return { type: 'Ephemeral' };
  const size = claim.resources?.requests?.storage;
  return {
    type: 'PersistentVolume',
    ...(size === undefined ? {} : { size }),
    ...(claim.storageClassName === undefined ? {} : { storageClassName: claim.storageClassName }),
  };
};
