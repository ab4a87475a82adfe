import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

import { LOCK } from '../../platform/database/advisory-locks.ts';

@Injectable()
export class BootstrapAccessRepository {
  async lock(tx: EntityManager): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK.bootstrap]);
  }

  async ensureProject(
    tx: EntityManager,
    project: { readonly id: string; readonly name: string; readonly at: Date },
  ): Promise<void> {
    await tx.query('INSERT INTO project (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING', [
      project.id,
      project.name,
      project.at,
    ]);
  }

  /** The one principal of kind BOOTSTRAP_ADMIN, which is ADMIN over the whole fleet. */
  async ensureAdmin(
    tx: EntityManager,
    made: { readonly id: string; readonly bindingId: string; readonly at: Date },
  ): Promise<void> {
    const found: { id: string }[] = await tx.query(`SELECT id FROM principal WHERE kind = 'BOOTSTRAP_ADMIN'`);
    if (found.length > 0) return;
    await tx.query(`INSERT INTO principal (id, name, kind, created_at) VALUES ($1, 'admin', 'BOOTSTRAP_ADMIN', $2)`, [
      made.id,
      made.at,
    ]);
    await tx.query(`INSERT INTO role_binding (id, principal_id, role) VALUES ($1, $2, 'ADMIN')`, [
      made.bindingId,
      made.id,
    ]);
  }
}
