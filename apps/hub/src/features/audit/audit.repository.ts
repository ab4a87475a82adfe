import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ApiDatabase } from '../../platform/database/pools.ts';
import type { PageRequest } from '../../platform/graphql/index.ts';
import type { AuditResult } from './audit.model.ts';
import { boundDocument, boundTarget } from './bound-audit-row.rules.ts';

export interface AuditRow {
  readonly seq: number;
  readonly at: Date;
  readonly principal: string;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly result: AuditResult;
  readonly code: string | null;
  readonly request_id: string | null;
  /** How many refusals the row stands for, and when the last of them was; null for a single one. */
  readonly count: number;
  readonly last_at: Date | null;
  /** Null until the row has its place in the chain of its project. */
  readonly chain_no: number | null;
  readonly chain_hash: string | null;
}

export type NewAuditRow = Omit<AuditRow, 'seq' | 'count' | 'last_at' | 'chain_no' | 'chain_hash'> &
  Partial<Pick<AuditRow, 'count' | 'last_at'>> & { readonly project_id: string | null };

@Injectable()
export class AuditRepository {
  constructor(private readonly dataSource: ApiDatabase) {}

  async append(row: NewAuditRow, tx: EntityManager = this.dataSource.manager): Promise<void> {
    await tx.query(
      `INSERT INTO audit (at, project_id, principal, action, target, before, after, result, code, request_id, count, last_at)
       VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8, $9, $10, $11, $12)`,
      [
        row.at,
        row.project_id,
        row.principal,
        row.action,
        boundTarget(row.target),
        boundDocument(row.before),
        boundDocument(row.after),
        row.result,
        row.code,
        row.request_id,
        row.count ?? 1,
        row.last_at ?? null,
      ],
    );
  }

  /** Newest first: one row more than the page. `projects`: those whose rows may be read; 'ALL' includes fleet-wide rows. */
  list(page: PageRequest, projects: 'ALL' | readonly string[]): Promise<AuditRow[]> {
    return this.dataSource.query(
      `SELECT seq, at, principal, action, target, before, after, result, code, request_id, count, last_at, chain_no, chain_hash
       FROM audit
       WHERE ($1::bigint IS NULL OR seq < $1) AND ($2::uuid[] IS NULL OR project_id = ANY($2))
       ORDER BY seq DESC LIMIT $3`,
      [page.after ?? null, projects === 'ALL' ? null : projects, page.size + 1],
    );
  }

  /** What an accepted mutation left behind when the target had this generation; undefined when nothing tells. */
  async findState(tx: EntityManager, target: string, generation: number): Promise<unknown> {
    const rows: { after: unknown }[] = await tx.query(
      `SELECT after FROM audit WHERE target = $1 AND result = 'OK' AND after -> 'generation' = to_jsonb($2::bigint)
       ORDER BY seq DESC LIMIT 1`,
      [target, generation],
    );
    return rows[0]?.after;
  }
}
