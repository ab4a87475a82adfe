import { Args, Context, Mutation, Resolver } from '@nestjs/graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { ApproveDeletesService } from './approve-deletes.service.ts';
import { CreateRedisClusterService } from './create-redis-cluster.service.ts';
import {
  AcceptDriftInput,
  ApproveDeletesInput,
  CreateRedisClusterInput,
  DeleteRedisClusterInput,
  ForgetRedisClusterInput,
  RecreateRedisClusterInput,
  RevertDriftInput,
  UpdateRedisClusterInput,
} from './redis-cluster.inputs.ts';
import {
  AcceptDriftPayload,
  ApproveDeletesPayload,
  CreateRedisClusterPayload,
  DeleteRedisClusterPayload,
  ForgetRedisClusterPayload,
  RecreateRedisClusterPayload,
  RevertDriftPayload,
  UpdateRedisClusterPayload,
} from './redis-cluster.payload.ts';
import { RemoveRedisClusterService } from './remove-redis-cluster.service.ts';
import { RepairRedisClusterService } from './repair-redis-cluster.service.ts';
import { UpdateRedisClusterService } from './update-redis-cluster.service.ts';

/** Each mutation stores intent and returns at once; the agent hears of it after the commit. */
@Resolver()
export class RedisClusterMutationsResolver {
  constructor(
    private readonly creation: CreateRedisClusterService,
    private readonly update: UpdateRedisClusterService,
    private readonly removal: RemoveRedisClusterService,
    private readonly repair: RepairRedisClusterService,
    private readonly approval: ApproveDeletesService,
  ) {}

  @Mutation(() => CreateRedisClusterPayload)
  createRedisCluster(
    @Args('input') input: CreateRedisClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<CreateRedisClusterPayload> {
    return this.creation.create(input, caller);
  }

  @Mutation(() => UpdateRedisClusterPayload)
  updateRedisCluster(
    @Args('input') input: UpdateRedisClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<UpdateRedisClusterPayload> {
    return this.update.update(input, caller);
  }

  @Mutation(() => DeleteRedisClusterPayload, {
    description: 'Sends a tombstone; the row goes when the agent has acknowledged it.',
  })
  deleteRedisCluster(
    @Args('input') input: DeleteRedisClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<DeleteRedisClusterPayload> {
    return this.removal.delete(input, caller);
  }

  @Mutation(() => ApproveDeletesPayload, {
    description:
      'Lets deletes through that the breaker holds back (delivery code DELETE_BREAKER), at the hub and at the agents. ADMIN only; all of them or none.',
  })
  approveDeletes(
    @Args('input') input: ApproveDeletesInput,
    @Context('caller') caller: Caller,
  ): Promise<ApproveDeletesPayload> {
    return this.approval.approve(input, caller);
  }

  @Mutation(() => AcceptDriftPayload, { description: 'Takes the live values of drifted fields into the wanted spec.' })
  acceptDrift(@Args('input') input: AcceptDriftInput, @Context('caller') caller: Caller): Promise<AcceptDriftPayload> {
    return this.repair.acceptDrift(input, caller);
  }

  @Mutation(() => RevertDriftPayload, { description: 'Takes drifted fields back to the wanted values, by force.' })
  revertDrift(@Args('input') input: RevertDriftInput, @Context('caller') caller: Caller): Promise<RevertDriftPayload> {
    return this.repair.revertDrift(input, caller);
  }

  @Mutation(() => RecreateRedisClusterPayload, {
    description: 'Creates the object again under the same hubUid, so that retained volumes are taken up.',
  })
  recreateRedisCluster(
    @Args('input') input: RecreateRedisClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<RecreateRedisClusterPayload> {
    return this.repair.recreate(input, caller);
  }

  @Mutation(() => ForgetRedisClusterPayload, {
    description:
      'The hub stops managing it. What still exists in the member cluster stays there; the name becomes free.',
  })
  forgetRedisCluster(
    @Args('input') input: ForgetRedisClusterInput,
    @Context('caller') caller: Caller,
  ): Promise<ForgetRedisClusterPayload> {
    return this.removal.forget(input, caller);
  }
}
