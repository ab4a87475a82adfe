/**
 * What the running data set was last rendered from, as its own ConfigMap and StatefulSets tell. The size is the larger of
 * what both say, and where no StatefulSet is seen, of the pods that are there. Without that a settings text of an earlier
 * size (an old dump that was applied again, an edit by hand) would remove running members past every gate.
 */
import type { Mode, RedisClusterSnapshot, ResolvedSpec } from '#domain';
import type { ObjectNames } from '#manifests';
import { findChild } from './find-child.ts';

export interface LiveShape {
  readonly mode: Mode | undefined;
  readonly persistenceEnabled: boolean | undefined;
  /** The pods were told to end and remove their append-only files. */
  readonly dropsAof: boolean;
  readonly size: number | undefined;
  readonly sentinels: number | undefined;
  readonly storage: ResolvedSpec['storage'] | undefined;
  readonly minReplicasToWrite: number | undefined;
  /** The notes of pods that come back to old volumes (DataSetRecord.returning), as the pods are told of them. */
  readonly returning: Readonly<Record<string, number>>;
  /** What the StatefulSets run, which is less than size and sentinels in hibernation. */
  readonly running: { readonly redis: number | undefined; readonly sentinel: number | undefined };
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
  const { settings, directives } = readConfig(findChild(snapshot, 'ConfigMap', names.config)?.['data']);
  const redis = findChild(snapshot, 'StatefulSet', names.redis) as StatefulSetFields | undefined;
  const sentinel = findChild(snapshot, 'StatefulSet', names.sentinel) as StatefulSetFields | undefined;
  const persistence = settings['PERSISTENCE'];
  const minReplicas = /^min-replicas-to-write (\d+)$/m.exec(directives)?.[1];
  return {
    mode: MODES.find((mode) => mode === settings['MODE']),
    persistenceEnabled: persistence === undefined ? undefined : persistence === 'on',
    dropsAof: settings['AOF'] === 'drop',
    size: countDataPods(snapshot, settings['REDIS_PODS'], redis),
    sentinels: countOf(settings['SENTINEL_PODS'], sentinel),
    storage: redis === undefined ? undefined : readStorage(redis),
    minReplicasToWrite: minReplicas === undefined ? undefined : Number(minReplicas),
    returning: readReturning(settings['RETURNING']),
    running: { redis: replicasOf(redis), sentinel: replicasOf(sentinel) },
  };
};

const MODES: readonly Mode[] = ['Standalone', 'Replication', 'Sentinel'];

const replicasOf = (set: StatefulSetFields | undefined): number | undefined => set?.spec?.replicas;

const countOf = (text: string | undefined, set: StatefulSetFields | undefined): number | undefined =>
  Number(text) || replicasOf(set);

const countDataPods = (
  { pods }: RedisClusterSnapshot,
  text: string | undefined,
  set: StatefulSetFields | undefined,
): number | undefined => {
  const counted = set === undefined ? pods.map((pod) => (pod.component === 'redis' ? pod.ordinal + 1 : 0)) : [];
  const size = Math.max(Number(text) || 0, replicasOf(set) ?? 0, ...counted);
  return size > 0 || set !== undefined ? size : undefined;
};

/** `2:1764640000 3:1764640000` */
const readReturning = (text = ''): Readonly<Record<string, number>> =>
  Object.fromEntries([...text.matchAll(/(\d+):(\d+)/g)].map(([, ordinal, stamp]) => [ordinal, Number(stamp)]));

/** The `NAME=value` lines that the entrypoints read, and the text of redis.conf. */
const readConfig = (data: unknown): { settings: Readonly<Record<string, string>>; directives: string } => {
  const texts = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, string>>;
  const lines = [...(texts['settings'] ?? '').matchAll(/^([A-Z_]+)=(.*)$/gm)];
  return {
    settings: Object.fromEntries(lines.map(([, name, value]) => [name, value])) as Readonly<Record<string, string>>,
    directives: texts['redis.conf'] ?? '',
  };
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
