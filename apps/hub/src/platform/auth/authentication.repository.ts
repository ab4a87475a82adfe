import { Injectable } from '@nestjs/common';
import { AccessDatabase } from '../database/pools.ts';
import type { RoleBinding, Viewer } from './viewer.ts';

interface TokenRow {
  readonly principal_id: string;
  readonly name: string;
  readonly kind: string;
  readonly bindings: readonly RoleBinding[];
}

@Injectable()
export class AuthenticationRepository {
  constructor(private readonly database: AccessDatabase) {}

  /** The principal of a token that is neither revoked nor expired. */
  async findViewer(tokenHash: Buffer): Promise<Viewer | undefined> {
    const rows: TokenRow[] = await this.database.query(
      `SELECT p.id AS principal_id, p.name, p.kind,
              coalesce((SELECT json_agg(json_build_object('role', b.role, 'projectId', b.project_id))
                        FROM role_binding b WHERE b.principal_id = p.id), '[]') AS bindings
       FROM api_token t JOIN principal p ON p.id = t.principal_id
       WHERE t.token_hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`,
      [tokenHash],
    );
    const row = rows[0];
    return row && { principalId: row.principal_id, name: row.name, kind: row.kind, bindings: row.bindings };
  }
}
