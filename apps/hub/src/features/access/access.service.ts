import { type Outcome, refuse, succeed } from '#domain';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasRole, mayRead, visibleProjects, type Caller, type Role } from '../../platform/auth/index.ts';
import { decodeGlobalId, encodeGlobalId, isUuid, NodeRegistry } from '../../platform/graphql/index.ts';
import { RUNTIME, type HubRuntime } from '../../platform/lifecycle/hub-runtime.ts';
import type { HubInfo, Project, Viewer } from './access.model.ts';
import { AccessRepository, type ProjectRow } from './access.repository.ts';
import { toProject } from './project.mapper.ts';

export const DEFAULT_PROJECT = 'default';

@Injectable()
export class AccessService implements OnModuleInit {
  constructor(
    private readonly repository: AccessRepository,
    private readonly nodes: NodeRegistry,
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
  ) {}

  onModuleInit(): void {
    this.nodes.register('Project', async (key, caller) => {
      const [row] = isUuid(key) && mayRead(caller.viewer, key) ? await this.repository.readProjects([key]) : [];
      return row ? toProject(row) : null;
    });
  }

  async projects(caller: Caller): Promise<Project[]> {
    return (await this.repository.listProjects(visibleProjects(caller.viewer))).map(toProject);
  }

  viewer({ viewer }: Caller): Viewer {
    const grants = viewer.bindings.map(({ role, projectId }) => ({
      role,
      projectId: projectId === null ? null : encodeGlobalId('Project', projectId),
    }));
    return { name: viewer.name, kind: viewer.kind, grants };
  }

  hub(): HubInfo {
    const { version, identity, addresses } = this.runtime;
    return { version, epoch: identity.hubEpoch, agentAddresses: [...addresses.agents] };
  }

  /** The project that an input names by id or by name, when the caller has the role there. */
  async resolveProject(
    tx: EntityManager,
    named: string | undefined,
    access: { readonly caller: Caller; readonly role: Role },
  ): Promise<Outcome<ProjectRow>> {
    const { caller, role } = access;
    const field = ['input', 'project'];
    const name = named ?? DEFAULT_PROJECT;
    const id = decodeGlobalId('Project', name) ?? (isUuid(name) ? name : undefined);
    const project = await this.repository.findProject(tx, id === undefined ? { name } : { id });
    if (!project || !mayRead(caller.viewer, project.id)) {
      return refuse('NOT_FOUND', `There is no project "${name}" that you may see.`, field);
    }
    if (!hasRole(caller.viewer, role, project.id)) {
      return refuse('FORBIDDEN', `This needs the role ${role} in project "${project.name}".`, field);
    }
    return succeed(project);
  }
}
