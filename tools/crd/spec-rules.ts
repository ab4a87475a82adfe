/**
 * The CEL rules that look at several fields of a spec, or at the spec before. A rule that 0.1.0 did not have either
 * looks at fields only that it did not have, or takes everything it took (checked by find-incompatibilities and by the
 * property test of transition-rules.spec.ts): an object that was stored must stay valid.
 */
import type { Rule } from './schema-parts.ts';

/** `has(self.a) && has(self.a.b) ? self.a.b : fallback`, for both sides of an immutability rule. */
const unchanged = (path: readonly [string, string], fallback: string, message: string): Rule => {
  const read = (root: string) =>
    `(has(${root}.${path[0]}) && has(${root}.${path.join('.')}) ? ${root}.${path.join('.')} : ${fallback})`;
  return { rule: `${read('self')} == ${read('oldSelf')}`, message, fieldPath: `.${path[0]}` };
};

const OF_RELEASE_0_1_0: readonly Rule[] = [
  {
    rule: "self.mode != 'Standalone' || !has(self.size) || self.size == 1",
    message: 'Standalone has one pod; leave size out, or choose mode Replication or Sentinel.',
    fieldPath: '.size',
  },
  {
    rule: "self.mode != 'Sentinel' || !has(self.size) || self.size >= 2",
    message: 'Sentinel needs a size of at least 2: one primary and a replica to fail over to.',
    fieldPath: '.size',
  },
  {
    rule: "self.mode == 'Sentinel' || !has(self.sentinel)",
    message: 'sentinel has a meaning in mode Sentinel only; remove it.',
    fieldPath: '.sentinel',
  },
  unchanged(['storage', 'type'], "'Ephemeral'", 'storage.type cannot be changed; create a new RedisCluster.'),
  unchanged(['storage', 'storageClassName'], "''", 'storage.storageClassName cannot be changed.'),
];

const SIZE = "(has(self.size) ? self.size : (self.mode == 'Standalone' ? 1 : 3))";
const HAS_VOLUME = "has(self.storage) && self.storage.type == 'PersistentVolume'";

/** Loosened from "may not change" to "may grow". */
export const VOLUME_GROWS: Rule = {
  rule:
    '!has(self.storage) || !has(oldSelf.storage) || !has(self.storage.size) || !has(oldSelf.storage.size) || ' +
    "self.storage.type == 'Ephemeral' || self.storage.size == oldSelf.storage.size || " +
    '!isQuantity(self.storage.size) || !isQuantity(oldSelf.storage.size) || ' +
    'quantity(self.storage.size).compareTo(quantity(oldSelf.storage.size)) >= 0',
  message: 'storage.size can grow and not shrink: no volume can be made smaller. Create a new RedisCluster.',
  fieldPath: '.storage',
};

export const SNAPSHOT_NEEDS_VOLUME: Rule = {
  rule: `!has(self.deletionPolicy) || self.deletionPolicy != 'Snapshot' || ${HAS_VOLUME}`,
  message: 'deletionPolicy Snapshot keeps a volume with the last RDB: it needs storage.type PersistentVolume.',
  fieldPath: '.deletionPolicy',
};

/** Redis' grammar as a Kubernetes quantity: 100mb is 100Mi, 100m is 100M. */
const AS_QUANTITY =
  "self.memory.maxmemory.lowerAscii().replace('kb', 'Ki').replace('mb', 'Mi').replace('gb', 'Gi')" +
  ".replace('b', '').replace('m', 'M').replace('g', 'G')";
const LIMIT = "string(self.resources.limits['memory'])";

const ON_NEW_FIELDS: readonly Rule[] = [
  {
    rule:
      '!has(self.memory) || !has(self.memory.maxmemory) || ' +
      "!(has(self.resources) && has(self.resources.limits) && 'memory' in self.resources.limits) || " +
      `!isQuantity(${LIMIT}) || quantity(${AS_QUANTITY}).isLessThan(quantity(${LIMIT}))`,
    message: 'memory.maxmemory must be below the memory limit, less the reserve: the kernel would kill Redis first.',
    fieldPath: '.memory',
  },
  {
    rule: `!has(self.hibernation) || !self.hibernation || (${HAS_VOLUME} && (!has(self.persistence) || !has(self.persistence.enabled) || self.persistence.enabled))`,
    message:
      'hibernation needs storage.type PersistentVolume and persistence: without pods the data live on volumes only.',
    fieldPath: '.hibernation',
  },
  {
    rule: `!has(self.failover) || !has(self.failover.minReplicasToWrite) || self.failover.minReplicasToWrite < ${SIZE}`,
    message: 'failover.minReplicasToWrite must be below size: with fewer replicas no write would ever be taken.',
    fieldPath: '.failover',
  },
  {
    rule: "!has(self.memory) || !has(self.config) || !('maxmemory' in self.config || 'maxmemory-policy' in self.config)",
    message: 'config may not set maxmemory or maxmemory-policy beside spec.memory: say it once, in spec.memory.',
    fieldPath: '.memory',
  },
  {
    rule:
      '!has(self.memory) || !(has(self.memory.maxmemoryPercent) || has(self.memory.reserve)) || ' +
      "(has(self.resources) && has(self.resources.limits) && 'memory' in self.resources.limits)",
    message: 'memory.maxmemoryPercent and memory.reserve are parts of the memory limit: set resources.limits.memory.',
    fieldPath: '.memory',
  },
  {
    rule: "!has(self.persistence) || !has(self.persistence.rdb) || !has(self.config) || !('save' in self.config)",
    message: 'config may not set save beside spec.persistence.rdb: say it once, in spec.persistence.rdb.',
    fieldPath: '.persistence',
  },
  {
    rule: "!has(self.persistence) || !has(self.persistence.aof) || !has(self.config) || !('appendfsync' in self.config)",
    message: 'config may not set appendfsync beside spec.persistence.aof: say it once, in spec.persistence.aof.',
    fieldPath: '.persistence',
  },
];

export const SPEC_RULES: readonly Rule[] = [...OF_RELEASE_0_1_0, VOLUME_GROWS, SNAPSHOT_NEEDS_VOLUME, ...ON_NEW_FIELDS];
