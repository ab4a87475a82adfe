/** Public face of fleet health. */
export { FleetHealthModule } from './fleet-health.module.ts';
export { FleetHealthResolver } from './fleet-health.resolver.ts';
