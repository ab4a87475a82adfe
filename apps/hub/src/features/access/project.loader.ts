import { Injectable } from '@nestjs/common';
import { orderByKey, type Loaders } from '../../platform/graphql/index.ts';
import type { Project } from './access.model.ts';
import { AccessRepository } from './access.repository.ts';
import { toProject } from './project.mapper.ts';

@Injectable()
export class ProjectLoader {
  constructor(private readonly repository: AccessRepository) {}

  /** The project of a row that the caller may see already, by uuid. */
  async load(loaders: Loaders, id: string): Promise<Project> {
    const loader = loaders.get<string, Project | undefined>(this, async (ids) => {
      const rows = await this.repository.readProjects(ids);
      return orderByKey(ids, rows, (row) => row.id).map((row) => row && toProject(row));
    });
    const project = await loader.load(id);
    if (!project) throw new Error(`project ${id} of a row does not exist`);
    return project;
  }
}
