/** Inputs of a spec for memory, passwords and users. Passwords never travel this way: Secrets are named. */
import { Field, InputType, Int } from '@nestjs/graphql';
import type { MAXMEMORY_POLICIES } from '#domain';
import { MaxmemoryPolicies } from './redis-cluster-spec.enums.ts';

@InputType({ description: 'How much of the memory limit the data may take.' })
export class MemoryInput {
  @Field(() => String, {
    nullable: true,
    description: "In Redis' grammar, as 100mb. Default: what the memory limit leaves after the reserve.",
  })
  maxmemory?: string | null;

  @Field(() => Int, { nullable: true, description: 'Of the memory limit, 10 to 90; not together with maxmemory.' })
  maxmemoryPercent?: number | null;

  @Field(() => MaxmemoryPolicies, { nullable: true, description: 'Default NOEVICTION.' })
  policy?: (typeof MAXMEMORY_POLICIES)[number] | null;

  @Field(() => String, {
    nullable: true,
    description: 'Kept free of the memory limit, a Kubernetes quantity. Default 25 % of it, at least 10 %.',
  })
  reserve?: string | null;
}

@InputType()
export class SecretKeyRefInput {
  @Field(() => String, { description: 'A Secret of the namespace with label redis.atoll.dev/allow=true.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Default "password".' })
  key?: string | null;
}

@InputType()
export class AclUserInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'ACL rules without passwords, for instance "~cache:* +@read".' })
  rules!: string;

  @Field(() => SecretKeyRefInput, {
    nullable: true,
    description: 'Where the password comes from. Default: made by the agent.',
  })
  secretRef?: SecretKeyRefInput | null;
}

@InputType()
export class RotationInput {
  @Field(() => String, {
    nullable: true,
    description: 'How long an old password stays valid at least, 3m to 168h. Default 3m.',
  })
  gracePeriod?: string | null;
}

@InputType()
export class AuthInput {
  @Field(() => SecretKeyRefInput, {
    nullable: true,
    description: 'Password of the application user. Default: made by the agent.',
  })
  secretRef?: SecretKeyRefInput | null;

  @Field(() => RotationInput, { nullable: true })
  rotation?: RotationInput | null;

  @Field(() => [AclUserInput], { nullable: true, description: 'Users besides the application user.' })
  users?: AclUserInput[] | null;
}
