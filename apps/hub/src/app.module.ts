import { type DynamicModule, Module } from '@nestjs/common';

import { API_MODULES } from './api-modules.ts';
import { AgentLinkModule } from './features/agent-link/agent-link.module.ts';
import type { HubRuntime } from './platform/lifecycle/hub-runtime.ts';
import { PlatformModule } from './platform/platform.module.ts';

@Module({})
export class AppModule {
  static forRuntime(runtime: HubRuntime): DynamicModule {
    return { module: AppModule, imports: [PlatformModule.forRuntime(runtime), AgentLinkModule, ...API_MODULES] };
  }
}
