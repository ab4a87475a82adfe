import type { DeletionPolicy, EngineType, FsyncPolicy, Mode, StorageType } from '#domain';
import { Field, InputType, Int } from '@nestjs/graphql';
import { GraphQLJson } from '../../platform/graphql/index.ts';
import { AuthInput, MemoryInput } from './redis-cluster-auth.input.ts';
import {
  FailoverInput,
  FencingInput,
  MaintenanceWindowInput,
  MonitoringInput,
  NetworkingInput,
  SchedulingInput,
  UpdateStrategyInput,
} from './redis-cluster-care.input.ts';
import { FsyncPolicies } from './redis-cluster-spec.enums.ts';
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

  @Field(() => String, { nullable: true, description: 'Duration. Default 15s.' })
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
export class AofInput {
  @Field(() => FsyncPolicies, { nullable: true, description: 'Default EVERYSEC.' })
  fsync?: FsyncPolicy | null;
}

@InputType({ description: 'A snapshot is written after `seconds` when at least `changes` keys changed.' })
export class SavePointInput {
  @Field(() => Int)
  seconds!: number;

  @Field(() => Int)
  changes!: number;
}

@InputType()
export class RdbInput {
  @Field(() => [SavePointInput], { nullable: true, description: 'Default: none.' })
  save?: SavePointInput[] | null;
}

@InputType()
export class PersistenceInput {
  @Field(() => Boolean, { nullable: true, description: 'Default: on with PERSISTENT_VOLUME, off with EPHEMERAL.' })
  enabled?: boolean | null;

  @Field(() => AofInput, { nullable: true })
  aof?: AofInput | null;

  @Field(() => RdbInput, { nullable: true })
  rdb?: RdbInput | null;
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

  @Field(() => MemoryInput, { nullable: true })
  memory?: MemoryInput | null;

  @Field(() => AuthInput, { nullable: true })
  auth?: AuthInput | null;

  @Field(() => SchedulingInput, { nullable: true })
  scheduling?: SchedulingInput | null;

  @Field(() => UpdateStrategyInput, { nullable: true })
  updateStrategy?: UpdateStrategyInput | null;

  @Field(() => FailoverInput, { nullable: true })
  failover?: FailoverInput | null;

  @Field(() => [MaintenanceWindowInput], {
    nullable: true,
    description: 'Restarts that can wait, wait for one of these. Default: any time.',
  })
  maintenanceWindows?: MaintenanceWindowInput[] | null;

  @Field(() => NetworkingInput, { nullable: true })
  networking?: NetworkingInput | null;

  @Field(() => MonitoringInput, { nullable: true })
  monitoring?: MonitoringInput | null;

  @Field(() => FencingInput, { nullable: true })
  fencing?: FencingInput | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'No pods, everything else stays. The data must lie on volumes.',
  })
  hibernation?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'The agent only reports.' })
  suspend?: boolean | null;
}
