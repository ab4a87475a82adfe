/** Public face of fleet health. */
export { FleetHealthModule } from './fleet-health.module.ts';
export { FleetHealthChangesResolver } from './fleet-health-changes.resolver.ts';
export { FleetHealthResolver } from './fleet-health.resolver.ts';
