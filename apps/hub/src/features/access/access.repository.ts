import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiDatabase } from '../../platform/database/pools.ts';

export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

const COLUMNS = 'id, name, created_at';

@Injectable()
export class AccessRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  listProjects(visible: 'ALL' | readonly string[]): Promise<ProjectRow[]> {
    if (visible === 'ALL') return this.dataSource.query(`SELECT ${COLUMNS} FROM project ORDER BY name`);
    return this.dataSource.query(`SELECT ${COLUMNS} FROM project WHERE id = ANY($1) ORDER BY name`, [visible]);
  }

  readProjects(ids: readonly string[]): Promise<ProjectRow[]> {
    return this.dataSource.query(`SELECT ${COLUMNS} FROM project WHERE id = ANY($1)`, [ids]);
  }

  async findProject(
    tx: EntityManager,
    by: { readonly id?: string; readonly name?: string },
  ): Promise<ProjectRow | undefined> {
    const rows: ProjectRow[] = await tx.query(`SELECT ${COLUMNS} FROM project WHERE id = $1 OR name = $2`, [
      by.id ?? null,
      by.name ?? null,
    ]);
    return rows[0];
  }
}
