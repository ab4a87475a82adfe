import { Module } from '@nestjs/common';
import { FleetHealthRepository } from './fleet-health.repository.ts';
import { FleetHealthResolver } from './fleet-health.resolver.ts';
import { FleetHealthService } from './fleet-health.service.ts';

@Module({ providers: [FleetHealthRepository, FleetHealthResolver, FleetHealthService] })
export class FleetHealthModule {}
