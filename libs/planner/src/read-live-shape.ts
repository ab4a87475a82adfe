/**
 * What the running data set was last rendered from, as its own ConfigMap and StatefulSets tell. How many members there are
 * is never taken from the settings alone. Without that a text of an earlier size (an old dump that was applied again, an
 * edit by hand) would remove running members past every gate, or bring back pods over old volumes that nobody noted.
 */
import type { Mode, RedisClusterSnapshot, ResolvedSpec, ResourceRequirements } from '#domain';
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
  /** Of the template. */
  readonly priorityClassName: string | undefined;
  /** What the data may take by the template, else by the running pods, and by redis.conf; undefined where there is neither. */
  readonly memory: LiveMemory | undefined;
  /** The notes of pods that come back to old volumes (DataSetRecord.returning), as the pods are told of them. */
  readonly returning: Readonly<Record<string, number>>;
  /** What the StatefulSets run, which is less than size and sentinels in hibernation. */
  readonly running: { readonly redis: number | undefined; readonly sentinel: number | undefined };
}

export interface LiveMemory {
  /** A Kubernetes quantity. */
  readonly limit: string | undefined;
  /** undefined while there is no template to tell of it. */
  readonly request: { readonly memory: string | undefined } | undefined;
  /** As redis.conf has them; undefined where it leaves them to the default. */
  readonly maxmemory: string | undefined;
  readonly policy: string | undefined;
}

interface StatefulSetFields {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly resources?: ResourceRequirements }[];
        readonly priorityClassName?: string;
      };
    };
    readonly volumeClaimTemplates?: readonly {
      readonly spec?: {
        readonly storageClassName?: string;
        readonly resources?: { readonly requests?: { readonly storage?: string } };
      };
    }[];
  };
}

type Settings = Readonly<Record<string, string>>;

/** Every field is undefined where nothing live tells it, as before the first apply. */
export const readLiveShape = (snapshot: RedisClusterSnapshot, names: ObjectNames): LiveShape => {
  const { settings, directives } = readConfig(findChild(snapshot, 'ConfigMap', names.config)?.['data']);
  const redis = findChild(snapshot, 'StatefulSet', names.redis) as StatefulSetFields | undefined;
  const sentinel = findChild(snapshot, 'StatefulSet', names.sentinel) as StatefulSetFields | undefined;
  const persistence = settings['PERSISTENCE'];
  const size = countDataPods(snapshot, settings, redis);
  const minReplicas = /^min-replicas-to-write (\d+)$/m.exec(directives)?.[1];
  return {
    mode: readMode(settings['MODE'], size, sentinel),
    persistenceEnabled: persistence === undefined ? undefined : persistence === 'on',
    dropsAof: settings['AOF'] === 'drop',
    size,
    sentinels: countSentinels(settings['SENTINEL_PODS'], sentinel),
    storage: redis === undefined ? undefined : readStorage(redis),
    minReplicasToWrite: minReplicas === undefined ? undefined : Number(minReplicas),
    priorityClassName: redis?.spec?.template?.spec?.priorityClassName,
    memory: readMemory(snapshot, redis, directives),
    returning: readReturning(settings['RETURNING']),
    running: { redis: replicasOf(redis), sentinel: replicasOf(sentinel) },
  };
};

const MODES: readonly Mode[] = ['Standalone', 'Replication', 'Sentinel'];

const replicasOf = (set: StatefulSetFields | undefined): number | undefined => set?.spec?.replicas;

/** Fewer than run are never rendered at once, whatever the settings say. */
const countSentinels = (text: string | undefined, set: StatefulSetFields | undefined): number | undefined =>
  Math.max(Number(text) || 0, replicasOf(set) ?? 0) || undefined;

/** `told` by the settings, `remembered` by the status of the last pass; `there`: pods, up to the highest ordinal. */
interface Members {
  readonly told: number | undefined;
  readonly remembered: number | undefined;
  readonly there: number;
}

const countDataPods = (
  { pods, resource, record }: RedisClusterSnapshot,
  settings: Settings,
  set: StatefulSetFields | undefined,
): number | undefined => {
  const told = settings['MODE'] === 'Standalone' ? 1 : Number(settings['REDIS_PODS']) || undefined;
  const there = Math.max(0, ...pods.map((pod) => (pod.component === 'redis' ? pod.ordinal + 1 : 0)));
  const running = replicasOf(set);
  if (running === undefined) return Math.max(told ?? 0, there) || record?.members;
  return countMembers(running, { told, remembered: resource.status?.size || undefined, there });
};

/**
 * Awake, as many as the StatefulSet runs; more only where status or pods bear it out: fewer run than are members on the way
 * to sleep and back, and after the StatefulSet was scaled by hand. Asleep nothing runs: the status remembers the members,
 * and the settings tell them where there is no status.
 */
const countMembers = (running: number, { told, remembered, there }: Members): number => {
  if (running === 0) return remembered ?? told ?? 0;
  const members = told ?? remembered ?? 0;
  return members > running && Math.max(remembered ?? 0, there) >= members ? members : running;
};

/** One that runs more than one pod is no Standalone, whatever the settings say: each of its pods would start as primary. */
const readMode = (
  text: string | undefined,
  size: number | undefined,
  sentinel: StatefulSetFields | undefined,
): Mode | undefined => {
  const told = MODES.find((mode) => mode === text);
  if (told !== 'Standalone' || (size ?? 0) <= 1) return told;
  return sentinel === undefined ? 'Replication' : 'Sentinel';
};

/** `2:1764640000 3:1764640000` */
const readReturning = (text = ''): Readonly<Record<string, number>> =>
  Object.fromEntries([...text.matchAll(/(\d+):(\d+)/g)].map(([, ordinal, stamp]) => [ordinal, Number(stamp)]));

/** The `NAME=value` lines that the entrypoints read, and the text of redis.conf. */
const readConfig = (data: unknown): { settings: Settings; directives: string } => {
  const texts = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, string>>;
  const lines = [...(texts['settings'] ?? '').matchAll(/^([A-Z_]+)=(.*)$/gm)];
  return {
    settings: Object.fromEntries(lines.map(([, name, value]) => [name, value])) as Settings,
    directives: texts['redis.conf'] ?? '',
  };
};

/** While the StatefulSet is made anew (grow-volumes) the pods run on, and what they hold with them. */
const readMemory = (
  { pods }: RedisClusterSnapshot,
  statefulSet: StatefulSetFields | undefined,
  directives: string,
): LiveMemory | undefined => {
  const limits = pods.flatMap((pod) => (pod.component === 'redis' ? [pod.memoryLimitBytes ?? Infinity] : []));
  if (statefulSet === undefined && limits.length === 0) return undefined;
  return {
    ...(statefulSet === undefined
      ? { limit: formatQuantity(Math.max(...limits)), request: undefined }
      : memoryOfTemplate(statefulSet)),
    maxmemory: /^maxmemory (\S+)$/m.exec(directives)?.[1],
    policy: /^maxmemory-policy (\S+)$/m.exec(directives)?.[1],
  };
};

const memoryOfTemplate = ({ spec }: StatefulSetFields): Pick<LiveMemory, 'limit' | 'request'> => {
  const resources = spec?.template?.spec?.containers?.[0]?.resources;
  return { limit: resources?.limits?.['memory'], request: { memory: resources?.requests?.['memory'] } };
};

/** In the unit in which limits are mostly written: another text of the same amount would be another template. */
const formatQuantity = (bytes: number): string | undefined => {
  if (!Number.isFinite(bytes)) return undefined;
  const unit = BINARY_UNITS.find(([, size]) => bytes % size === 0);
  return unit === undefined ? String(bytes) : `${bytes / unit[1]}${unit[0]}`;
};
const BINARY_UNITS = [
  ['Gi', 1024 ** 3],
  ['Mi', 1024 ** 2],
  ['Ki', 1024],
] as const;

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
