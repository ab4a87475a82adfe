import { Args, Context, Int, Query, Resolver } from '@nestjs/graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { FleetDimensions, FleetHealth, type FleetDimension } from './fleet-health.model.ts';
import { FleetHealthService } from './fleet-health.service.ts';

@Resolver()
export class FleetHealthResolver {
  constructor(private readonly health: FleetHealthService) {}

  @Query(() => FleetHealth, { description: 'Reads roll-ups only: its cost does not grow with the fleet.' })
  fleetHealth(
    @Args('groupBy', { type: () => [FleetDimensions], nullable: true }) groupBy: FleetDimension[] | undefined,
    @Args('first', { type: () => Int, nullable: true, defaultValue: 250, description: 'Groups, at most 500.' })
    first: number | null | undefined,
    @Args('after', { type: () => String, nullable: true, description: 'A cursor of "pageInfo" of the same groupBy.' })
    after: string | undefined,
    @Context('caller') caller: Caller,
  ): Promise<FleetHealth> {
    return this.health.read({ groupBy: groupBy ?? [], first, after }, caller);
  }
}
