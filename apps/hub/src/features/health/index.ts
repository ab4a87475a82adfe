export { FleetHealthResolver } from './fleet-health.resolver.ts';
