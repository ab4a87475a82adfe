import { Args, Context, Int, Resolver, Subscription } from '@nestjs/graphql';
import type { RequestContext } from '../../platform/graphql/index.ts';
import { FleetDimensions, FleetHealth, type FleetDimension } from './fleet-health.model.ts';
import { WatchFleetHealthService } from './watch-fleet-health.service.ts';

@Resolver()
export class FleetHealthChangesResolver {
  constructor(private readonly watch: WatchFleetHealthService) {}

  @Subscription(() => FleetHealth, {
    name: 'fleetHealth',
    description:
      'The counts as they are at once, and again when one that you see has changed; at most about twice a second.',
    resolve: (health: FleetHealth) => health,
  })
  changes(
    @Args('groupBy', { type: () => [FleetDimensions], nullable: true }) groupBy: FleetDimension[] | undefined,
    @Args('first', { type: () => Int, nullable: true, defaultValue: 250, description: 'Groups, at most 500.' })
    first: number | null | undefined,
    @Args('after', { type: () => String, nullable: true, description: 'A cursor of "pageInfo" of the same groupBy.' })
    after: string | undefined,
    @Context() context: RequestContext,
  ): AsyncIterable<FleetHealth> {
    return this.watch.watch({ groupBy: groupBy ?? [], first, after }, context);
  }
}
