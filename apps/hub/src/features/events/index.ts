export { FleetEventsResolver } from './fleet-events.resolver.ts';
