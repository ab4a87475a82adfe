import { Module } from '@nestjs/common';
import { AuthModule } from '../../platform/auth/index.ts';
import { EventsModule } from '../events/index.ts';
import { FleetHealthChangesResolver } from './fleet-health-changes.resolver.ts';
import { FleetHealthRepository } from './fleet-health.repository.ts';
import { FleetHealthResolver } from './fleet-health.resolver.ts';
import { FleetHealthService } from './fleet-health.service.ts';
import { WatchFleetHealthService } from './watch-fleet-health.service.ts';

@Module({
  imports: [AuthModule, EventsModule],
  providers: [
    FleetHealthRepository,
    FleetHealthResolver,
    FleetHealthChangesResolver,
    FleetHealthService,
    WatchFleetHealthService,
  ],
})
export class FleetHealthModule {}
