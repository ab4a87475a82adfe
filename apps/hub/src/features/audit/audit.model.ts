import { Field, GraphQLISODateTime, ID, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf, GraphQLJson, GraphQLLong } from '../../platform/graphql/index.ts';

export const AuditResults = { OK: 'OK', REFUSED: 'REFUSED', DRY_RUN: 'DRY_RUN', FAILED: 'FAILED' } as const;
export type AuditResult = keyof typeof AuditResults;
registerEnumType(AuditResults, { name: 'AuditResult' });

@ObjectType({
  description:
    'One mutation, done or refused; or several refusals of one principal within a minute. Written once, never changed; secrets are left out.',
})
export class AuditEntry {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLLong)
  sequence!: number;

  @Field(() => GraphQLISODateTime)
  at!: Date;

  @Field(() => String)
  principal!: string;

  @Field(() => String, { description: 'Name of the mutation.' })
  action!: string;

  @Field(() => String, {
    nullable: true,
    description: 'What it was about: a global id, or a name when there is no id yet.',
  })
  target!: string | null;

  @Field(() => GraphQLJson, { nullable: true })
  before!: unknown;

  @Field(() => GraphQLJson, { nullable: true })
  after!: unknown;

  @Field(() => AuditResults)
  result!: AuditResult;

  @Field(() => String, { nullable: true, description: 'Code of the refusal.' })
  code!: string | null;

  @Field(() => String, { nullable: true })
  requestId!: string | null;

  @Field(() => Int, { description: 'How many refusals the row stands for; 1 for a single mutation.' })
  count!: number;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'When the last of several was; `at` is the first.' })
  lastAt!: Date | null;

  @Field(() => GraphQLLong, {
    nullable: true,
    description: 'Place of the row in the chain of its project; null for the seconds until it has one.',
  })
  chainNumber!: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the row and of the one before it. Keep one elsewhere, and a rewritten chain shows.',
  })
  chainHash!: string | null;
}

@ObjectType()
export class AuditConnection extends connectionOf(AuditEntry, 'Audit') {}
