import type { Action } from '#domain';

/** What an action touches, for people: `Pod orders-ab12-0`, `StatefulSet orders-ab12`, `RedisCluster`. */
export const describeObject = (action: Action): string => {
  if (action.kind === 'ApplyChild') return `${action.object.kind} ${action.object.metadata.name}`;
  if (action.kind === 'DeleteChild') return `${action.objectKind} ${action.key.name}`;
  if (action.kind === 'SwitchOver') return `Pod ${action.from} to Pod ${action.to}`;
  if ('sentinelPod' in action) return `Pod ${action.sentinelPod}`;
  if ('pod' in action) return `Pod ${action.pod}`;
  return 'key' in action ? (KIND_OF_KEY[action.kind] ?? 'Secret') + ` ${action.key.name}` : 'RedisCluster';
};

const KIND_OF_KEY: Partial<Record<Action['kind'], string>> = {
  WriteRecord: 'ConfigMap',
  OrphanStatefulSet: 'StatefulSet',
  KeepVolume: 'PersistentVolumeClaim',
  GrowVolume: 'PersistentVolumeClaim',
};
