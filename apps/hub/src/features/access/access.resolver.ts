import { Context, Query, Resolver } from '@nestjs/graphql';
import type { Caller } from '../../platform/auth/index.ts';
import { HubInfo, Project, Viewer } from './access.model.ts';
import { AccessService } from './access.service.ts';

@Resolver()
export class AccessResolver {
  constructor(private readonly access: AccessService) {}

  @Query(() => [Project], { name: 'projects', description: 'Those that you may see, by name.' })
  list(@Context('caller') caller: Caller): Promise<Project[]> {
    return this.access.projects(caller);
  }

  @Query(() => Viewer)
  viewer(@Context('caller') caller: Caller): Viewer {
    return this.access.viewer(caller);
  }

  @Query(() => HubInfo)
  hub(): HubInfo {
    return this.access.hub();
  }
}
