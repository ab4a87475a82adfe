import { Field, GraphQLISODateTime, ID, ObjectType, registerEnumType } from '@nestjs/graphql';
import { connectionOf, GraphQLJson, GraphQLLong } from '../../platform/graphql/index.ts';

export const AuditResults = { OK: 'OK', REFUSED: 'REFUSED', DRY_RUN: 'DRY_RUN', FAILED: 'FAILED' } as const;
export type AuditResult = keyof typeof AuditResults;
registerEnumType(AuditResults, { name: 'AuditResult' });

@ObjectType({ description: 'One mutation, done or refused. Written once, never changed; secrets are left out.' })
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
}

@ObjectType()
export class AuditConnection extends connectionOf(AuditEntry, 'Audit') {}
