import type { ConditionStatus, Freshness, Mode, Phase, PodRole } from '#domain';
import { Field, Float, GraphQLISODateTime, Int, ObjectType } from '@nestjs/graphql';
import { Freshnesses } from '../member-clusters/index.ts';
import { GraphQLJson, GraphQLLong } from '../../platform/graphql/index.ts';
import { ConditionStatuses, LinkStates, Modes, Phases, PodRoles } from './redis-cluster.enums.ts';

@ObjectType({ description: 'How clients of Redis reach it. Names are those of Services in the member cluster.' })
export class Endpoints {
  @Field(() => String, { nullable: true })
  primary!: string | null;

  @Field(() => String, { nullable: true })
  replicas!: string | null;

  @Field(() => String, { nullable: true })
  sentinel!: string | null;

  @Field(() => String, { nullable: true, description: "Sentinel's master name." })
  masterName!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the Secret that tells clients how to connect.' })
  connectionSecret!: string | null;

  @Field(() => String, { nullable: true, description: 'IP:port of the confirmed primary, for people.' })
  primaryAddress!: string | null;
}

@ObjectType()
export class Pod {
  @Field(() => String)
  name!: string;

  @Field(() => PodRoles)
  role!: PodRole;

  @Field(() => Boolean)
  ready!: boolean;

  @Field(() => String, { nullable: true })
  node!: string | null;

  @Field(() => String, { nullable: true })
  ip!: string | null;

  @Field(() => LinkStates, { nullable: true, description: 'Replicas only: the link to the primary.' })
  link!: 'up' | 'down' | null;
}

@ObjectType()
export class Condition {
  @Field(() => String)
  type!: string;

  @Field(() => ConditionStatuses)
  status!: ConditionStatus;

  @Field(() => String)
  reason!: string;

  @Field(() => String)
  message!: string;

  @Field(() => GraphQLLong, { nullable: true, description: "The custom resource's own generation, not the hub's." })
  observedGeneration!: number | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  lastTransitionTime!: Date | null;
}

@ObjectType({ description: 'What the agent last reported. Read it together with its age.' })
export class RedisClusterStatus {
  @Field(() => GraphQLLong, { nullable: true, description: "The hub's generation that the operator acted on." })
  observedGeneration!: number | null;

  @Field(() => Phases, { nullable: true })
  phase!: Phase | null;

  @Field(() => Modes, { nullable: true })
  mode!: Mode | null;

  @Field(() => String, { nullable: true })
  engineVersion!: string | null;

  @Field(() => Int, { nullable: true })
  size!: number | null;

  @Field(() => Int, { nullable: true })
  readyPods!: number | null;

  @Field(() => String, { nullable: true, description: 'Name of the pod that is the confirmed primary.' })
  currentPrimary!: string | null;

  @Field(() => GraphQLLong, { nullable: true, description: 'Counter of confirmed primaries of this data set.' })
  primaryTerm!: number | null;

  @Field(() => Endpoints)
  endpoints!: Endpoints;

  @Field(() => [Pod])
  pods!: Pod[];

  @Field(() => [Condition])
  conditions!: Condition[];

  @Field(() => GraphQLJson, {
    description:
      'Numbers of the primary by name: keys, offsetBytes, connectedReplicas. Empty while none answers. They travel with the next change of state, so they may be older than the rest.',
  })
  numbers!: Record<string, number>;

  @Field(() => GraphQLJson, {
    description:
      "As in the custom resource's status, what of it there is: rollout, config, credentials, setAside, capabilities, primaryEngine, primaryVersion.",
  })
  details!: unknown;

  @Field(() => String, { nullable: true })
  dataSetId!: string | null;

  @Field(() => GraphQLISODateTime, { description: "When the hub received it, on the hub's clock." })
  reportedAt!: Date;

  @Field(() => Float)
  ageSeconds!: number;

  @Field(() => Freshnesses, {
    description:
      'Freshness of the agent that reports it; LATE at best while the last status of this object could not be stored.',
  })
  freshness!: Freshness;

  @Field(() => Boolean, {
    description: 'True when the agent is not FRESH, or does not see its API server: these are the values it last knew.',
  })
  lastKnown!: boolean;
}
