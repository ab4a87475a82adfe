import { Field, GraphQLISODateTime, ID, ObjectType } from '@nestjs/graphql';
import { UserError } from '../../platform/graphql/index.ts';
import { Agent, MemberCluster } from './member-cluster.model.ts';

@ObjectType()
export class EnrolMemberClusterPayload {
  @Field(() => MemberCluster, { nullable: true })
  memberCluster!: MemberCluster | null;

  @Field(() => Agent, { nullable: true })
  agent!: Agent | null;

  @Field(() => String, { nullable: true, description: 'One-time enrolment token, shown only here.' })
  token!: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  tokenExpiresAt!: Date | null;

  @Field(() => String, { nullable: true, description: "The hub's CA certificate, PEM." })
  caCertificate!: string | null;

  @Field(() => String, { nullable: true, description: 'The hub address that the agent dials.' })
  hubAddress!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'For a shell, against the member cluster. It reads the token on standard input, keeps it in a Secret and installs the agent.',
  })
  installCommand!: string | null;

  @Field(() => [UserError])
  userErrors!: UserError[];
}

@ObjectType()
export class ApproveAgentPayload {
  @Field(() => Agent, { nullable: true })
  agent!: Agent | null;

  @Field(() => MemberCluster, { nullable: true })
  memberCluster!: MemberCluster | null;

  @Field(() => [UserError])
  userErrors!: UserError[];
}

@ObjectType()
export class ReplaceMemberClusterPayload {
  @Field(() => Agent, { nullable: true })
  agent!: Agent | null;

  @Field(() => MemberCluster, { nullable: true })
  memberCluster!: MemberCluster | null;

  @Field(() => [ID], {
    description:
      'hubUids that the new agent serves from now on. What it does not find there shows DELETED_LOCALLY; nothing is made anew by itself.',
  })
  hubUids!: string[];

  @Field(() => [UserError])
  userErrors!: UserError[];
}

@ObjectType()
export class RevokeAgentPayload {
  @Field(() => Agent, { nullable: true })
  agent!: Agent | null;

  @Field(() => [UserError])
  userErrors!: UserError[];
}

@ObjectType()
export class ForgetMemberClusterPayload {
  @Field(() => MemberCluster, { nullable: true })
  memberCluster!: MemberCluster | null;

  @Field(() => [ID], { description: 'hubUids of RedisClusters that stay in the member cluster, unmanaged.' })
  orphanedHubUids!: string[];

  @Field(() => [UserError])
  userErrors!: UserError[];
}
