import type { DeletionPolicy, EngineType, Mode, StorageType } from '#domain';
import { Field, InputType, Int } from '@nestjs/graphql';
import { GraphQLJson } from '../../platform/graphql/index.ts';
import { DeletionPolicies, EngineTypes, Modes, StorageTypes } from './redis-cluster.enums.ts';

@InputType()
export class EngineInput {
  @Field(() => EngineTypes)
  type!: EngineType;

  @Field(() => String, { description: '`major.minor` or `major.minor.patch`, for instance "8.0".' })
  version!: string;

  @Field(() => String, { nullable: true, description: 'Full image reference; default by engine and version.' })
  image?: string | null;
}

@InputType()
export class ResourceRequirementsInput {
  @Field(() => GraphQLJson, { nullable: true, description: 'Kubernetes quantities, for instance {memory: "256Mi"}.' })
  requests?: unknown;

  @Field(() => GraphQLJson, { nullable: true })
  limits?: unknown;
}

@InputType()
export class SentinelInput {
  @Field(() => Int, { nullable: true, description: 'Odd, at least 3. Default 3.' })
  replicas?: number | null;

  @Field(() => Int, { nullable: true, description: 'Default: the majority.' })
  quorum?: number | null;

  @Field(() => String, { nullable: true, description: 'Duration as "500ms", "5s", "1m". Default 5s.' })
  downAfter?: string | null;

  @Field(() => String, { nullable: true, description: 'Duration. Default 60s.' })
  failoverTimeout?: string | null;

  @Field(() => ResourceRequirementsInput, { nullable: true })
  resources?: ResourceRequirementsInput | null;
}

@InputType()
export class StorageInput {
  @Field(() => StorageTypes)
  type!: StorageType;

  @Field(() => String, { nullable: true, description: 'Kubernetes quantity; needed for PERSISTENT_VOLUME.' })
  size?: string | null;

  @Field(() => String, { nullable: true })
  storageClassName?: string | null;
}

@InputType()
export class PersistenceInput {
  @Field(() => Boolean)
  enabled!: boolean;
}

@InputType({ description: 'What a RedisCluster should be. A field left out, or null, takes its default.' })
export class RedisClusterSpecInput {
  @Field(() => EngineInput)
  engine!: EngineInput;

  @Field(() => Modes)
  mode!: Mode;

  @Field(() => Int, { nullable: true, description: 'Data pods. STANDALONE: 1. Default: STANDALONE 1, else 3.' })
  size?: number | null;

  @Field(() => SentinelInput, { nullable: true })
  sentinel?: SentinelInput | null;

  @Field(() => GraphQLJson, {
    nullable: true,
    description: 'redis.conf directives by name, for instance {"maxmemory-policy": "allkeys-lru"}.',
  })
  config?: unknown;

  @Field(() => ResourceRequirementsInput, { nullable: true })
  resources?: ResourceRequirementsInput | null;

  @Field(() => StorageInput, { nullable: true, description: 'Default EPHEMERAL.' })
  storage?: StorageInput | null;

  @Field(() => PersistenceInput, {
    nullable: true,
    description: 'Default: on with PERSISTENT_VOLUME, off with EPHEMERAL.',
  })
  persistence?: PersistenceInput | null;

  @Field(() => DeletionPolicies, { nullable: true, description: 'Default RETAIN_VOLUMES.' })
  deletionPolicy?: DeletionPolicy | null;
}
