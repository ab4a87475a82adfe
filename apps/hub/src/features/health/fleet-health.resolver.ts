import { Args, Context, Query, Resolver } from '@nestjs/graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { FleetDimensions, FleetHealth, type FleetDimension } from './fleet-health.model.ts';
import { FleetHealthService } from './fleet-health.service.ts';

@Resolver()
export class FleetHealthResolver {
  constructor(private readonly health: FleetHealthService) {}

  @Query(() => FleetHealth, { description: 'Reads roll-ups only: its cost does not grow with the fleet.' })
  fleetHealth(
    @Args('groupBy', { type: () => [FleetDimensions], nullable: true }) groupBy: FleetDimension[] | undefined,
    @Context('caller') caller: Caller,
  ): Promise<FleetHealth> {
    return this.health.read(groupBy ?? [], caller);
  }
}
