/** Inputs of a spec for where pods run and how the agent cares for them. */
import { Field, InputType, Int } from '@nestjs/graphql';
import type {
  DataLossPolicy,
  FailoverMode,
  MaintenanceWindow,
  Mesh,
  TolerationSpec,
  UpdateStrategyType,
} from '#domain';
import { GraphQLJson } from '../../platform/graphql/index.ts';
import {
  DataLossPolicies,
  DaysOfWeek,
  FailoverModes,
  Meshes,
  SpreadRules,
  TaintEffects,
  TolerationOperators,
  UpdateStrategyTypes,
} from './redis-cluster-spec.enums.ts';

@InputType()
export class TolerationInput {
  @Field(() => String, { nullable: true })
  key?: string | null;

  @Field(() => TolerationOperators, { nullable: true, description: 'Default EQUAL.' })
  operator?: TolerationSpec['operator'] | null;

  @Field(() => String, { nullable: true })
  value?: string | null;

  @Field(() => TaintEffects, { nullable: true, description: 'Default: every effect.' })
  effect?: TolerationSpec['effect'] | null;

  @Field(() => Int, { nullable: true, description: 'With NO_EXECUTE.' })
  tolerationSeconds?: number | null;
}

@InputType()
export class SpreadInput {
  @Field(() => SpreadRules, { nullable: true, description: 'Default PREFERRED.' })
  node?: 'Preferred' | 'Required' | null;

  @Field(() => SpreadRules, { nullable: true, description: 'Default PREFERRED.' })
  zone?: 'Preferred' | 'Required' | null;
}

@InputType()
export class SchedulingInput {
  @Field(() => GraphQLJson, {
    nullable: true,
    description: 'Labels that a node must have, for instance {disk: "fast"}.',
  })
  nodeSelector?: unknown;

  @Field(() => [TolerationInput], { nullable: true })
  tolerations?: TolerationInput[] | null;

  @Field(() => String, { nullable: true })
  priorityClassName?: string | null;

  @Field(() => SpreadInput, { nullable: true })
  spread?: SpreadInput | null;
}

@InputType()
export class UpdateStrategyInput {
  @Field(() => UpdateStrategyTypes, { nullable: true, description: 'Default ROLLING.' })
  type?: UpdateStrategyType | null;

  @Field(() => Boolean, { nullable: true, description: 'No pod is restarted for a change while true.' })
  paused?: boolean | null;

  @Field(() => Int, { nullable: true, description: 'At most this many data pods get the change. Default: all.' })
  partition?: number | null;
}

@InputType()
export class FailoverInput {
  @Field(() => FailoverModes, { nullable: true, description: 'Default AUTOMATIC.' })
  mode?: FailoverMode | null;

  @Field(() => DataLossPolicies, { nullable: true, description: 'Default REFUSE.' })
  dataLossPolicy?: DataLossPolicy | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Replicas that must follow for the primary to take writes. Default: half of the size.',
  })
  minReplicasToWrite?: number | null;
}

@InputType()
export class MaintenanceWindowInput {
  @Field(() => [DaysOfWeek], { nullable: true, description: 'Default: every day.' })
  days?: MaintenanceWindow['days'] | null;

  @Field(() => String, { description: 'Time of day, as "03:30".' })
  start!: string;

  @Field(() => String, { description: 'As "2h": 10m to 24h.' })
  duration!: string;

  @Field(() => String, { nullable: true, description: 'IANA name. Default UTC.' })
  timeZone?: string | null;
}

@InputType()
export class NetworkingInput {
  @Field(() => Meshes, { nullable: true, description: 'Default NONE.' })
  mesh?: Mesh | null;
}

@InputType()
export class MonitoringInput {
  @Field(() => Boolean, { nullable: true, description: 'Default true.' })
  exporter?: boolean | null;
}

@InputType()
export class FencingInput {
  @Field(() => Boolean, {
    description: 'Every write of clients is refused, and nothing is promoted until it is lifted.',
  })
  enabled!: boolean;
}
