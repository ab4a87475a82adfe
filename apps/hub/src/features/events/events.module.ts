import { Module } from '@nestjs/common';
import { ChangeFeedService } from './change-feed.service.ts';
import { ChangeLogRepository } from './change-log.repository.ts';
import { FleetEventsRepository } from './fleet-events.repository.ts';
import { FleetEventsResolver } from './fleet-events.resolver.ts';
import { FleetEventsService } from './fleet-events.service.ts';

@Module({
  providers: [ChangeFeedService, ChangeLogRepository, FleetEventsRepository, FleetEventsResolver, FleetEventsService],
  exports: [ChangeFeedService, ChangeLogRepository],
})
export class EventsModule {}
