/**
 * What may not change on a RedisCluster that exists, decided from its spec before and after. The CRD's CEL transition
 * rules (tools/crd) refuse the same at admission, for people who edit in the member cluster; this is the same list for
 * the hub, so that a change that must come back as REJECTED is never stored. A spec of tools/crd keeps the two equal.
 * Defaults count as written: naming a default that was left out is no change.
 */
import type { RedisClusterSpec } from './redis-cluster-spec.ts';
import { SPEC_LIMITS, type SpecProblem } from './validate-spec.ts';

interface FixedField {
  /** Path in the spec. */
  readonly path: readonly string[];
  readonly read: (spec: RedisClusterSpec) => unknown;
  readonly message: string;
}

const isPersistent = ({ persistence, storage }: RedisClusterSpec): boolean =>
  persistence?.enabled ?? storage?.type === 'PersistentVolume';

/** In the order of the spec's fields. The messages are those of the CRD. */
const FIXED_FIELDS: readonly FixedField[] = [
  { path: ['engine', 'type'], read: (spec) => spec.engine.type, message: 'engine.type cannot be changed yet.' },
  {
    path: ['mode'],
    read: (spec) => spec.mode,
    message: 'mode cannot be changed yet; create a new RedisCluster and move the data.',
  },
  {
    path: ['sentinel', 'replicas'],
    read: (spec) => spec.sentinel?.replicas ?? SPEC_LIMITS.minSentinels,
    message: 'sentinel.replicas cannot be changed yet.',
  },
  {
    path: ['storage', 'type'],
    read: (spec) => spec.storage?.type ?? 'Ephemeral',
    message: 'storage.type cannot be changed; create a new RedisCluster.',
  },
  {
    path: ['storage', 'storageClassName'],
    read: (spec) => spec.storage?.storageClassName ?? '',
    message: 'storage.storageClassName cannot be changed.',
  },
  {
    path: ['storage', 'size'],
    read: (spec) => spec.storage?.size ?? '',
    message: 'storage.size cannot be changed yet.',
  },
  { path: ['persistence'], read: isPersistent, message: 'persistence cannot be switched on a running data set yet.' },
];

/** Every field of `after` that may not differ from `before`; empty when the change may be stored. Never throws. */
export const validateSpecChange = (before: RedisClusterSpec, after: RedisClusterSpec): readonly SpecProblem[] =>
  FIXED_FIELDS.filter(({ read }) => read(before) !== read(after)).map(({ path, message }) => ({
    path: ['spec', ...path],
    code: 'FIELD_FIXED',
    message,
  }));
