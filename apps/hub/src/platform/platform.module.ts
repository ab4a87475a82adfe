import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { AccessDatabase, ApiDatabase } from './database/pools.ts';
import { CONFIG, type HubRuntime, LOG, Readiness, RUNTIME } from './lifecycle/hub-runtime.ts';
import { CLOCK, IDS, systemClock, systemIds } from './lifecycle/time-and-ids.ts';
import { HealthController } from './telemetry/health.controller.ts';
import { Metrics } from './telemetry/metrics.ts';

/** Hands what was made before the application to every module of it. */
@Global()
@Module({})
export class PlatformModule {
  static forRuntime(runtime: HubRuntime): DynamicModule {
    const providers = [
      { provide: RUNTIME, useValue: runtime },
      { provide: CONFIG, useValue: runtime.config },
      { provide: LOG, useValue: runtime.log },
      { provide: DataSource, useValue: runtime.dataSource },
      { provide: ApiDatabase, useValue: runtime.pools.api },
      { provide: AccessDatabase, useValue: runtime.pools.access },
      { provide: Metrics, useValue: runtime.metrics },
      { provide: Readiness, useValue: runtime.readiness },
      { provide: CLOCK, useValue: systemClock },
      { provide: IDS, useValue: systemIds },
    ];
    return { module: PlatformModule, providers, controllers: [HealthController], exports: providers };
  }
}
