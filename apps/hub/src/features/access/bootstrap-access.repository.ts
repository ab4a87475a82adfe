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

  /** Id of the one principal of kind BOOTSTRAP_ADMIN, which is ADMIN over the whole fleet. */
  async ensureAdmin(
    tx: EntityManager,
    made: { readonly id: string; readonly bindingId: string; readonly at: Date },
  ): Promise<string> {
    const found: { id: string }[] = await tx.query(`SELECT id FROM principal WHERE kind = 'BOOTSTRAP_ADMIN'`);
    if (found[0]) return found[0].id;
    await tx.query(`INSERT INTO principal (id, name, kind, created_at) VALUES ($1, 'admin', 'BOOTSTRAP_ADMIN', $2)`, [
      made.id,
      made.at,
    ]);
    await tx.query(`INSERT INTO role_binding (id, principal_id, role) VALUES ($1, $2, 'ADMIN')`, [
      made.bindingId,
      made.id,
    ]);
    return made.id;
  }

  async ensureToken(
    tx: EntityManager,
    token: { readonly id: string; readonly principalId: string; readonly tokenHash: Buffer; readonly at: Date },
  ): Promise<void> {
    await tx.query(
      `INSERT INTO api_token (id, principal_id, token_hash, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (token_hash) DO UPDATE SET revoked_at = NULL`,
      [token.id, token.principalId, token.tokenHash, token.at],
    );
  }

  async revokeOthers(
    tx: EntityManager,
    kept: { readonly principalId: string; readonly tokenHash: Buffer; readonly at: Date },
  ): Promise<void> {
    await tx.query(
      `UPDATE api_token SET revoked_at = $3 WHERE principal_id = $1 AND token_hash <> $2 AND revoked_at IS NULL`,
      [kept.principalId, kept.tokenHash, kept.at],
    );
  }
}
