import type { Freshness, Mode, Phase } from '#domain';
import { Field, ID, InputType } from '@nestjs/graphql';
import { Freshnesses } from '../member-clusters/index.ts';
import { Modes, Phases, SyncStates, type SyncState } from './redis-cluster.enums.ts';

@InputType({ description: 'All given fields must match.' })
export class RedisClusterFilter {
  @Field(() => ID, { nullable: true })
  memberClusterId?: string | null;

  @Field(() => ID, { nullable: true })
  projectId?: string | null;

  @Field(() => String, { nullable: true })
  namespace?: string | null;

  @Field(() => String, { nullable: true, description: 'Exact name.' })
  name?: string | null;

  @Field(() => Phases, { nullable: true, description: 'As last reported.' })
  phase?: Phase | null;

  @Field(() => Modes, { nullable: true, description: 'As wanted by the spec.' })
  mode?: Mode | null;

  @Field(() => Freshnesses, { nullable: true })
  freshness?: Freshness | null;

  @Field(() => SyncStates, { nullable: true })
  sync?: SyncState | null;
}
