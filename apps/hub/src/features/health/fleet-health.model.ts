import { Field, GraphQLISODateTime, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { GraphQLJson, PageInfo } from '../../platform/graphql/index.ts';

/** GraphQL name → key of a group. */
export const FleetDimensions = {
  PROJECT: 'projectId',
  REGION: 'region',
  MEMBER_CLUSTER: 'memberClusterId',
  VERSION: 'version',
  MODE: 'mode',
  PHASE: 'phase',
} as const;
export type FleetDimension = (typeof FleetDimensions)[keyof typeof FleetDimensions];
registerEnumType(FleetDimensions, { name: 'FleetDimension' });

@ObjectType({ isAbstract: true })
export abstract class FleetCounts {
  @Field(() => Int)
  total!: number;

  @Field(() => Int)
  ready!: number;

  @Field(() => Int, {
    description: 'Reported degraded, waiting for a person, or with a refused spec, by an agent that is heard of.',
  })
  degraded!: number;

  @Field(() => Int, { description: 'Nothing recent is known: neither healthy nor zero.' })
  unknown!: number;

  @Field(() => Int, {
    description: 'Of an agent that is late: counted by what it last said, and here besides.',
  })
  late!: number;
}

@ObjectType()
export class FleetHealthGroup extends FleetCounts {
  @Field(() => GraphQLJson, { description: 'Value by dimension, for instance {"REGION": "eu"}; ids are global ids.' })
  key!: Record<string, string | null>;
}

@ObjectType({ description: 'Counts of RedisClusters, from roll-ups that are folded every half second.' })
export class FleetHealth extends FleetCounts {
  @Field(() => [FleetHealthGroup])
  groups!: FleetHealthGroup[];

  @Field(() => PageInfo, { description: 'Of the groups. The totals are those of all groups.' })
  pageInfo!: PageInfo;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Null: nothing was counted yet.' })
  foldedAt!: Date | null;

  @Field(() => Boolean, {
    description:
      'True when the counts are older than a minute, or those of a member cluster cannot be written and are of before.',
  })
  stale!: boolean;
}
