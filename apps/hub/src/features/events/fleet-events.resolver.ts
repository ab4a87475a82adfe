import { Args, Context, ID, Int, Query, Resolver } from '@nestjs/graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { FleetEvent } from './fleet-event.model.ts';
import { FleetEventsService } from './fleet-events.service.ts';

@Resolver()
export class FleetEventsResolver {
  constructor(private readonly fleetEvents: FleetEventsService) {}

  @Query(() => [FleetEvent], { description: 'Newest first; empty when there is no such object that you may see.' })
  events(
    @Args('redisClusterId', { type: () => ID }) redisClusterId: string,
    @Args('first', { type: () => Int, nullable: true, defaultValue: 50, description: 'At most 100.' })
    first: number | null | undefined,
    @Context('caller') caller: Caller,
  ): Promise<FleetEvent[]> {
    return this.fleetEvents.list(redisClusterId, first, caller);
  }
}
