import { Module } from '@nestjs/common';
import { GraphqlApiModule } from '../../platform/graphql/index.ts';
import { AccessRepository } from './access.repository.ts';
import { AccessResolver } from './access.resolver.ts';
import { AccessService } from './access.service.ts';
import { BootstrapAccessRepository } from './bootstrap-access.repository.ts';
import { BootstrapAccessService } from './bootstrap-access.service.ts';
import { ProjectLoader } from './project.loader.ts';

@Module({
  imports: [GraphqlApiModule],
  providers: [
    AccessRepository,
    AccessService,
    AccessResolver,
    BootstrapAccessRepository,
    BootstrapAccessService,
    ProjectLoader,
  ],
  exports: [AccessService, ProjectLoader],
})
export class AccessModule {}
