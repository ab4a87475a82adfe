/** Public face of events: what happened, and who has to hear of it. */
export { decodeChangeCursor, encodeChangeCursor, type ChangeCursor } from './change-cursor.ts';
export { ChangeFeedService } from './change-feed.service.ts';
export { ChangeLogRepository } from './change-log.repository.ts';
export { EventsModule } from './events.module.ts';
export { FleetEventsResolver } from './fleet-events.resolver.ts';
export { LatestChange } from './latest-change.ts';
