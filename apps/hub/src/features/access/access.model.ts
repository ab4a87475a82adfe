import { Field, GraphQLISODateTime, ID, ObjectType, registerEnumType } from '@nestjs/graphql';
import type { Role } from '../../platform/auth/index.ts';
import { Node } from '../../platform/graphql/index.ts';

export const Roles = { ADMIN: 'ADMIN', OPERATOR: 'OPERATOR', VIEWER: 'VIEWER' } as const;
registerEnumType(Roles, {
  name: 'Role',
  valuesMap: {
    ADMIN: { description: 'Everything; over the whole fleet also member clusters and agents.' },
    OPERATOR: { description: 'Reads, and changes RedisClusters.' },
    VIEWER: { description: 'Reads.' },
  },
});

@ObjectType({ implements: () => [Node], description: 'A tenant of the hub.' })
export class Project implements Node {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}

@ObjectType()
export class Grant {
  @Field(() => Roles)
  role!: Role;

  @Field(() => ID, { nullable: true, description: 'Null: every project.' })
  projectId!: string | null;
}

@ObjectType({ description: 'Whom your token stands for.' })
export class Viewer {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  kind!: string;

  @Field(() => [Grant])
  grants!: Grant[];
}

@ObjectType()
export class HubInfo {
  @Field(() => String)
  version!: string;

  @Field(() => String, { nullable: true, description: "Random id of the hub's database lineage." })
  epoch!: string | null;

  @Field(() => [String], { description: 'Addresses that agents can be told to dial.' })
  agentAddresses!: string[];
}
