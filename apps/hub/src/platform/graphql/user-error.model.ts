import { ERROR_CODES, type ErrorCode } from '#domain';
import { Field, ID, ObjectType, registerEnumType } from '@nestjs/graphql';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];
export const ErrorCodes = Object.fromEntries(codes.map((code) => [code, code])) as { [Code in ErrorCode]: Code };

registerEnumType(ErrorCodes, {
  name: 'ErrorCode',
  description: 'Why a mutation was refused, and what to do next.',
  valuesMap: Object.fromEntries(codes.map((code) => [code, { description: ERROR_CODES[code] }])),
});

@ObjectType({ description: 'An expected failure of a mutation. Nothing was changed.' })
export class UserError {
  @Field(() => ErrorCodes)
  code!: ErrorCode;

  @Field(() => [String], {
    nullable: true,
    description: 'Path of the input field, for instance ["input", "spec", "size"].',
  })
  field!: string[] | null;

  @Field(() => String)
  message!: string;

  @Field(() => Boolean, { description: 'The same request may succeed later without a change.' })
  retryable!: boolean;

  @Field(() => ID, { nullable: true })
  memberClusterId!: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'GENERATION_CONFLICT: what others changed since the expected generation, as far as it is known.',
  })
  changedFields!: string[] | null;
}
