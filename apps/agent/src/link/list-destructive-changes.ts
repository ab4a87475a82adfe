/**
 * What of a changed spec can lose data or stop Redis, in words, from the spec before and the one after it. Both come from
 * outside and are read with care: a field of a wrong kind is left to the API server. A default that is left out counts as
 * written. Without this list a hub that is wrong or taken over could hibernate or shrink everything at once, which costs as
 * much as the deletes that it may not send.
 */
import { ownValue } from '#domain';
import { isTooSmallToRun, memoryLimitBytes, parseQuantity, wantedMaxmemoryBytes } from '#domain';
import type { RedisClusterSpec } from '#domain';
import { describeLostAccess } from './describe-lost-access.ts';

type Spec = RedisClusterSpec;
type Rule = (before: Spec, after: Spec) => string | undefined;

/** An amount of memory counts as far down below this share of what it was. */
const FAR_DOWN = 0.5;
const FSYNC = ['no', 'everysec', 'always'];
/** From the one that keeps least. */
const DELETION_POLICIES = ['Delete', 'Snapshot', 'RetainVolumes', 'Deny'];

const turnsOn =
  (name: string, read: (spec: Spec) => unknown): Rule =>
  (before, after) =>
    read(before) !== true && read(after) === true ? name : undefined;

/** Says it when the value of `after` comes earlier in `order` than that of `before`. */
const goesDown =
  (name: string, order: readonly string[], read: (spec: Spec) => string): Rule =>
  (before, after) =>
    order.indexOf(read(after)) < order.indexOf(read(before)) ? `${name} ${read(before)} → ${read(after)}` : undefined;

const shrinks =
  (name: string, read: (spec: Spec) => number): Rule =>
  (before, after) =>
    read(after) < read(before) ? `${name} ${read(before)} → ${read(after)}` : undefined;

const differs =
  (name: string, read: (spec: Spec) => string): Rule =>
  (before, after) =>
    read(before) === read(after) ? undefined : `${name} ${read(before)} → ${read(after)}`;

const sizeOf = ({ mode, size }: Spec): number => size ?? (mode === 'Standalone' ? 1 : 3);
const hasPersistence = ({ persistence, storage }: Spec): boolean =>
  persistence?.enabled ?? storage?.type === 'PersistentVolume';
const directive = ({ config }: Spec, name: string): string | undefined =>
  Object.hasOwn(config ?? {}, name) ? String(ownValue(config, name)) : undefined;
const minReplicasOf = (spec: Spec): number => spec.failover?.minReplicasToWrite ?? Math.floor(sizeOf(spec) / 2);
const quorumOf = ({ sentinel }: Spec): number => sentinel?.quorum ?? Math.floor((sentinel?.replicas ?? 3) / 2) + 1;
const policyOf = (spec: Spec): string => spec.memory?.policy ?? directive(spec, 'maxmemory-policy') ?? 'noeviction';
const maxmemoryOf = ({ memory, config, resources }: Spec): number =>
  wantedMaxmemoryBytes({ memory: memory ?? {}, config: config ?? {}, resources: resources ?? {} });

/** Of an image its repository: another tag is an ordinary upgrade, which is rolled out pod by pod. */
const repositoryOf = ({ engine }: Spec): string =>
  engine?.image === undefined
    ? String(engine?.type)
    : String(engine.image)
        .replace(/@.*$/, '')
        .replace(/:[^/:]*$/, '');

const memoryFalls: Rule = (before, after) => {
  const pairs = [
    [maxmemoryOf(before), maxmemoryOf(after)],
    [memoryLimitBytes(before.resources) ?? 0, memoryLimitBytes(after.resources) ?? 0],
  ] as const;
  const falls = pairs.some(([was, is]) => is > 0 && (was === 0 ? isTooSmallToRun(is) : is < was * FAR_DOWN));
  return falls ? 'less than half of the memory' : undefined;
};

const evicts: Rule = (before, after) =>
  policyOf(before) === 'noeviction' && policyOf(after) !== 'noeviction'
    ? `maxmemory-policy noeviction → ${policyOf(after)}`
    : undefined;

const describeVolume = ({ storage }: Spec): string =>
  `${storage?.type ?? 'Ephemeral'} ${storage?.storageClassName ?? ''}`;
const volumeBytes = ({ storage }: Spec): number | undefined => parseQuantity(storage?.size ?? '');

const losesVolume: Rule = (before, after) => {
  const isOther = describeVolume(before) !== describeVolume(after);
  const isSmaller = (volumeBytes(after) ?? Infinity) < (volumeBytes(before) ?? 0);
  return isOther || isSmaller ? 'other or smaller storage' : undefined;
};

const losesPersistence: Rule = (before, after) =>
  hasPersistence(before) && !hasPersistence(after) ? 'persistence is switched off' : undefined;

const RULES: readonly Rule[] = [
  losesPersistence,
  losesVolume,
  goesDown('fsync', FSYNC, (spec) => spec.persistence?.aof?.fsync ?? directive(spec, 'appendfsync') ?? 'everysec'),
  shrinks('size', sizeOf),
  shrinks('minReplicasToWrite', minReplicasOf),
  shrinks('Sentinel quorum', quorumOf),
  shrinks('databases', (spec) => Number(directive(spec, 'databases') ?? 16)),
  turnsOn('hibernation', ({ hibernation }) => hibernation),
  turnsOn('fencing', ({ fencing }) => fencing?.enabled),
  turnsOn('suspend', ({ suspend }) => suspend),
  goesDown('dataLossPolicy', ['Allow', 'Refuse'], ({ failover }) => failover?.dataLossPolicy ?? 'Refuse'),
  goesDown('failover mode', ['Manual', 'Automatic'], ({ failover }) => failover?.mode ?? 'Automatic'),
  goesDown('deletionPolicy', DELETION_POLICIES, ({ deletionPolicy }) => deletionPolicy ?? 'RetainVolumes'),
  memoryFalls,
  evicts,
  differs('engine', repositoryOf),
  describeLostAccess,
];

/** Empty when the change is an ordinary one. Never throws. */
export function listDestructiveChanges(before: unknown, after: unknown): readonly string[] {
  return RULES.flatMap((rule) => {
    try {
      return rule((before ?? {}) as Spec, after as Spec) ?? [];
    } catch {
      // A field of a wrong kind, as text where a map belongs: the API server refuses it.
      return [];
    }
  });
}
