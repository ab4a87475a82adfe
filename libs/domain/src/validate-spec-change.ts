/**
 * What may not change on a RedisCluster that exists, decided from its spec before and after. The CRD's CEL transition
 * rules (tools/crd) refuse the same at admission, for people who edit in the member cluster; this is the same list for
 * the hub, so that a change that must come back as REJECTED is never stored. A spec of tools/crd keeps the two equal.
 * Defaults count as written: naming a default that was left out is no change.
 */
import { parseQuantity } from './parse-quantity.ts';
import type { RedisClusterSpec } from './redis-cluster-spec.ts';
import type { SpecProblem } from './spec-problem.ts';

interface ChangeRule {
  /** Path in the spec. */
  readonly path: readonly string[];
  readonly refuses: (before: RedisClusterSpec, after: RedisClusterSpec) => boolean;
  readonly message: string;
}

const differs =
  (read: (spec: RedisClusterSpec) => string) =>
  (before: RedisClusterSpec, after: RedisClusterSpec): boolean =>
    read(before) !== read(after);

const shrinks = ({ storage: before }: RedisClusterSpec, { storage: after }: RedisClusterSpec): boolean => {
  if (after?.type !== 'PersistentVolume' || before?.size === after.size) return false;
  const [was, wanted] = [parseQuantity(before?.size ?? ''), parseQuantity(after.size ?? '')];
  return was !== undefined && wanted !== undefined && wanted < was;
};

/** In the order of the spec's fields. The messages are those of the CRD. */
const CHANGE_RULES: readonly ChangeRule[] = [
  {
    path: ['storage', 'type'],
    refuses: differs((spec) => spec.storage?.type ?? 'Ephemeral'),
    message: 'storage.type cannot be changed; create a new RedisCluster.',
  },
  {
    path: ['storage', 'storageClassName'],
    refuses: differs((spec) => spec.storage?.storageClassName ?? ''),
    message: 'storage.storageClassName cannot be changed.',
  },
  {
    path: ['storage', 'size'],
    refuses: shrinks,
    message: 'storage.size can grow and not shrink: no volume can be made smaller. Create a new RedisCluster.',
  },
];

/** What `after` may not ask for where `before` is; empty when the change may be stored. Never throws. */
export const validateSpecChange = (before: RedisClusterSpec, after: RedisClusterSpec): readonly SpecProblem[] =>
  CHANGE_RULES.filter(({ refuses }) => refuses(before, after)).map(({ path, message }) => ({
    path: ['spec', ...path],
    code: 'FIELD_FIXED',
    message,
  }));
