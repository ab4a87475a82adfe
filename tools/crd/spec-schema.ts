/**
 * The spec of a RedisCluster as the API server checks it, with or without an agent. It holds the fields that the code
 * obeys and no other; what cannot be changed on a running data set is refused with a sentence (spec-rules.ts), and may be
 * allowed by a later release: loosening is additive, narrowing is not.
 */
import { FSYNC_POLICIES, MAXMEMORY_POLICIES, SPEC_LIMITS } from '#domain';
import { authSchema } from './auth-schema.ts';
import { careFields } from './care-schema.ts';
import { configRules } from './config-rules.ts';
import {
  choice,
  duration,
  fields,
  flag,
  list,
  NO_INHERITED_NAME,
  quantityText,
  resources,
  text,
  whole,
  type Schema,
} from './schema-parts.ts';
import { SPEC_RULES } from './spec-rules.ts';

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
  { required: ['type', 'version'] },
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
  'x-kubernetes-validations': [...configRules(), NO_INHERITED_NAME],
};

const persistence = fields('Whether and how the data outlive a crash.', {
  enabled: flag('On: an append-only file. Default: on with PersistentVolume, off with Ephemeral.'),
  aof: fields('The append-only file.', {
    fsync: choice('How often it is synced to disk. Default everysec.', FSYNC_POLICIES),
  }),
  rdb: fields('Snapshots besides.', {
    save: list(
      'A snapshot is written after `seconds` when at least `changes` keys changed. Default: none, the append-only file is enough.',
      fields(
        'One point of save.',
        {
          seconds: whole('Seconds since the last snapshot.', { minimum: 1, maximum: 31_536_000 }),
          changes: whole('Changed keys since the last snapshot.', { minimum: 1, maximum: 2_147_483_647 }),
        },
        { required: ['seconds', 'changes'] },
      ),
      { maxItems: SPEC_LIMITS.maxSavePoints },
    ),
  }),
});

const memory = fields(
  'How much of the memory limit the data may take.',
  {
    maxmemory: text("In Redis' grammar, as 100mb. Default: what the limit leaves after the reserve.", {
      pattern: '^[0-9]+([bB]|[kK][bB]?|[mM][bB]?|[gG][bB]?)?$',
      maxLength: 24,
    }),
    maxmemoryPercent: whole('maxmemory as a part of the memory limit.', {
      minimum: SPEC_LIMITS.minMaxmemoryPercent,
      maximum: SPEC_LIMITS.maxMaxmemoryPercent,
    }),
    policy: choice('What is evicted when maxmemory is reached. Default noeviction.', MAXMEMORY_POLICIES),
    reserve: quantityText(
      'Kept free of the memory limit for copies at a fork, buffers and fragmentation. Default 25 % of the limit.',
    ),
  },
  {
    'x-kubernetes-validations': [
      {
        rule: '!has(self.maxmemory) || !has(self.maxmemoryPercent)',
        message: 'memory: give maxmemory or maxmemoryPercent, not both.',
      },
      {
        rule: '!has(self.maxmemoryPercent) || self.maxmemoryPercent <= 75 || has(self.reserve)',
        message:
          'memory.maxmemoryPercent above 75 leaves less than the reserve of 25 %: set memory.reserve too, at least 10 % of the limit.',
        fieldPath: '.maxmemoryPercent',
      },
    ],
  },
);

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
      resources: resources('Of each Redis container. maxmemory follows from the memory limit, see memory.'),
      storage,
      persistence,
      deletionPolicy: choice(
        'What deleting this object does: Delete (volumes too), RetainVolumes (default), Snapshot (a last RDB on the volume of the primary, which alone is kept), Deny (nothing is deleted).',
        ['Delete', 'RetainVolumes', 'Snapshot', 'Deny'],
      ),
      memory,
      auth: authSchema(),
      ...careFields(),
    },
    { required: ['engine', 'mode'], 'x-kubernetes-validations': SPEC_RULES },
  );
