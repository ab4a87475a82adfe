import { Injectable } from '@nestjs/common';
import { visibleProjects, type Caller } from '../../platform/auth/index.ts';
import { buildConnection, encodeGlobalId, isInteger, readPage } from '../../platform/graphql/index.ts';
import type { AuditConnection, AuditEntry } from './audit.model.ts';
import { AuditRepository, type AuditRow } from './audit.repository.ts';

@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  /** Rows of the projects in which the caller is ADMIN; those of no project only for an ADMIN of the fleet. */
  async list(
    first: number | null | undefined,
    after: string | null | undefined,
    caller: Caller,
  ): Promise<AuditConnection> {
    const page = readPage(first, after, isInteger);
    const admin = { ...caller.viewer, bindings: caller.viewer.bindings.filter((binding) => binding.role === 'ADMIN') };
    const rows = await this.repository.list(page, visibleProjects(admin));
    return buildConnection(rows, page, { keyOf: (row) => String(row.seq), map: toAuditEntry });
  }
}

const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: encodeGlobalId('AuditEntry', String(row.seq)),
  sequence: row.seq,
  at: row.at,
  principal: row.principal,
  action: row.action,
  target: row.target,
  before: row.before,
  after: row.after,
  result: row.result,
  code: row.code,
  requestId: row.request_id,
  count: row.count,
  lastAt: row.last_at,
  chainNumber: row.chain_no,
  chainHash: row.chain_hash,
});
