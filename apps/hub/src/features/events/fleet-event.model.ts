import { Field, GraphQLISODateTime, ID, Int, ObjectType, registerEnumType } from '@nestjs/graphql';

export const EventSeverities = { NORMAL: 'Normal', WARNING: 'Warning' } as const;
export type EventSeverity = (typeof EventSeverities)[keyof typeof EventSeverities];
registerEnumType(EventSeverities, { name: 'EventSeverity' });

@ObjectType({ description: 'Something that happened to an object, as its agent told it. Repeats are counted.' })
export class FleetEvent {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLISODateTime)
  at!: Date;

  @Field(() => EventSeverities)
  severity!: EventSeverity;

  @Field(() => String)
  reason!: string;

  @Field(() => String)
  message!: string;

  @Field(() => GraphQLISODateTime)
  firstAt!: Date;

  @Field(() => GraphQLISODateTime)
  lastAt!: Date;

  @Field(() => Int)
  count!: number;
}
