/**
 * The spec of a RedisCluster as the API server checks it, with or without an agent. It holds the fields that the code
 * obeys and no other; what cannot be changed on a running data set yet is refused with a sentence, and may be allowed
 * by a later release: loosening is additive, narrowing is not.
 */
import { SPEC_LIMITS } from '#domain';
import { configRules } from './config-rules.ts';
import { duration, fields, quantityText, resources, text, whole, type Rule, type Schema } from './schema-parts.ts';

/** `has(self.a) && has(self.a.b) ? self.a.b : fallback`, for both sides of an immutability rule. */
const unchanged = (path: readonly [string, string], fallback: string, message: string): Rule => {
  const read = (root: string) =>
    `(has(${root}.${path[0]}) && has(${root}.${path.join('.')}) ? ${root}.${path.join('.')} : ${fallback})`;
  return { rule: `${read('self')} == ${read('oldSelf')}`, message, fieldPath: `.${path[0]}` };
};

const SPEC_RULES: readonly Rule[] = [
  {
    rule: 'self.mode == oldSelf.mode',
    message: 'mode cannot be changed yet; create a new RedisCluster and move the data.',
    fieldPath: '.mode',
  },
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
  unchanged(['sentinel', 'replicas'], '3', 'sentinel.replicas cannot be changed yet.'),
  unchanged(['storage', 'type'], "'Ephemeral'", 'storage.type cannot be changed; create a new RedisCluster.'),
  unchanged(['storage', 'storageClassName'], "''", 'storage.storageClassName cannot be changed.'),
  unchanged(['storage', 'size'], "''", 'storage.size cannot be changed yet.'),
  {
    rule:
      "(has(self.persistence) ? self.persistence.enabled : has(self.storage) && self.storage.type == 'PersistentVolume') == " +
      "(has(oldSelf.persistence) ? oldSelf.persistence.enabled : has(oldSelf.storage) && oldSelf.storage.type == 'PersistentVolume')",
    message: 'persistence cannot be switched on a running data set yet.',
    fieldPath: '.persistence',
  },
];

const engine = fields(
  'Which server runs.',
  {
    type: text('Redis or Valkey.', { enum: ['Redis', 'Valkey'] }),
    version: text('major.minor, or major.minor.patch, for instance 8.0.', {
      pattern: '^[0-9]+\\.[0-9]+(\\.[0-9]+)?$',
      maxLength: 16,
    }),
    image: text('Full image reference. Default: the official image of that version.', {
      minLength: 1,
      maxLength: 512,
      pattern: '^[^\\s]+$',
    }),
  },
  {
    required: ['type', 'version'],
    'x-kubernetes-validations': [
      { rule: 'self.type == oldSelf.type', message: 'engine.type cannot be changed yet.', fieldPath: '.type' },
    ],
  },
);

const sentinel = fields(
  'The Sentinels. Only in mode Sentinel.',
  {
    replicas: whole('How many: odd, at least 3. Default 3.', {
      minimum: SPEC_LIMITS.minSentinels,
      maximum: SPEC_LIMITS.maxSentinels,
    }),
    quorum: whole('How many must agree that the primary is down. Default: the majority.', {
      minimum: 1,
      maximum: SPEC_LIMITS.maxSentinels,
    }),
    downAfter: duration('Silence after which the primary counts as down, for instance 5s. Default 5s.'),
    failoverTimeout: duration('Time after which a failover is tried again. Default 15s.'),
    resources: resources('Of each Sentinel container.'),
  },
  {
    'x-kubernetes-validations': [
      {
        rule: '!has(self.replicas) || self.replicas % 2 == 1',
        message: 'sentinel.replicas must be odd: an even number adds no majority.',
        fieldPath: '.replicas',
      },
      {
        rule: '!has(self.quorum) || self.quorum <= (has(self.replicas) ? self.replicas : 3)',
        message: 'sentinel.quorum cannot be more than the number of Sentinels.',
        fieldPath: '.quorum',
      },
    ],
  },
);

const storage = fields(
  'Where the data lie. Default Ephemeral.',
  {
    type: text('Ephemeral (gone with the pod) or PersistentVolume.', { enum: ['Ephemeral', 'PersistentVolume'] }),
    size: quantityText('Size of each volume, for instance 1Gi. Required for PersistentVolume.'),
    storageClassName: text("Default: the member cluster's default class.", { minLength: 1, maxLength: 253 }),
  },
  {
    required: ['type'],
    'x-kubernetes-validations': [
      {
        rule: "self.type != 'PersistentVolume' || has(self.size)",
        message: 'storage.size is required with PersistentVolume, for instance 1Gi.',
        fieldPath: '.size',
      },
    ],
  },
);

const config: Schema = {
  type: 'object',
  description: 'redis.conf directives by name. Those that the operator owns are refused.',
  maxProperties: SPEC_LIMITS.maxConfigKeys,
  // Printable ASCII without quotes and backslash: nothing that could end a line of redis.conf or its quoting.
  additionalProperties: {
    type: 'string',
    maxLength: SPEC_LIMITS.maxConfigValueLength,
    pattern: '^[ !#-&(-\\[\\]-~]*$',
  },
  'x-kubernetes-validations': configRules(),
};

export const specSchema = (): Schema =>
  fields(
    'What is wanted. Defaults are shown in status, never written here.',
    {
      engine,
      mode: text('Standalone: one pod. Replication: failover by the agent. Sentinel: failover by Sentinels.', {
        enum: ['Standalone', 'Replication', 'Sentinel'],
      }),
      size: whole('Data pods: one primary, the rest replicas. Default 3, in mode Standalone 1.', {
        minimum: 1,
        maximum: SPEC_LIMITS.maxSize,
      }),
      sentinel,
      config,
      resources: resources('Of each Redis container. maxmemory is 75 % of the memory limit unless config sets it.'),
      storage,
      persistence: fields(
        'Whether the data outlive a crash. Default: on with PersistentVolume.',
        { enabled: { type: 'boolean', description: 'On: an append-only file, synced every second.' } },
        { required: ['enabled'] },
      ),
      deletionPolicy: text(
        'What deleting this object does: Delete (volumes too), RetainVolumes (default), Deny (nothing is deleted).',
        { enum: ['Delete', 'RetainVolumes', 'Deny'] },
      ),
    },
    { required: ['engine', 'mode'], 'x-kubernetes-validations': SPEC_RULES },
  );
