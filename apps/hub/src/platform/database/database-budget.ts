/**
 * Watches how much of the disk the database takes, against what a person has given it (ATOLL_DATABASE_BUDGET): two metrics,
 * and from 70 % on a line of the log once an hour. PostgreSQL cannot say how large its disk is, and on a full one nothing
 * can be stored any more; the alarm has to come while there is time to look. Asks for the size of files only.
 */
import type { Logger } from 'pino';
import type { EntityManager } from 'typeorm';

import type { Metrics } from '../telemetry/metrics.ts';

const ALARM_SHARE = 0.7;
const TELL_AGAIN_MS = 3_600_000;

export type BudgetVerdict = 'NO_BUDGET' | 'WITHIN' | 'NEARLY_FULL' | 'OVER';

export function judgeSize(bytes: number, budgetBytes: number | undefined): BudgetVerdict {
  if (budgetBytes === undefined) return 'NO_BUDGET';
  if (bytes < budgetBytes * ALARM_SHARE) return 'WITHIN';
  return bytes < budgetBytes ? 'NEARLY_FULL' : 'OVER';
}

export interface DatabaseBudgetParts {
  readonly budgetBytes: number | undefined;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly monotonicMs: () => number;
}

export class DatabaseBudget {
  readonly #parts: DatabaseBudgetParts;
  #toldMs = -Infinity;

  constructor(parts: DatabaseBudgetParts) {
    this.#parts = parts;
    parts.metrics.databaseBudgetBytes.set(parts.budgetBytes ?? 0);
  }

  async look(tx: EntityManager): Promise<BudgetVerdict> {
    const [row] = await tx.query<{ bytes: number }[]>('SELECT pg_database_size(current_database()) AS bytes');
    const bytes = Number(row?.bytes ?? 0);
    this.#parts.metrics.databaseBytes.set(bytes);
    const verdict = judgeSize(bytes, this.#parts.budgetBytes);
    if (verdict === 'WITHIN') this.#toldMs = -Infinity;
    if (verdict === 'NEARLY_FULL' || verdict === 'OVER') await this.#tell(tx, bytes);
    return verdict;
  }

  /** With what takes most, by the table that its partitions belong to. */
  async #tell(tx: EntityManager, bytes: number): Promise<void> {
    const { budgetBytes, log, monotonicMs } = this.#parts;
    if (monotonicMs() - this.#toldMs < TELL_AGAIN_MS) return;
    this.#toldMs = monotonicMs();
    const tables = await tx.query<{ table: string; bytes: number }[]>(
      `SELECT coalesce(i.inhparent, c.oid)::regclass::text AS "table", sum(pg_total_relation_size(c.oid))::bigint AS bytes
       FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
       WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1 ORDER BY 2 DESC LIMIT 5`,
    );
    log.error({ code: 'DATABASE_NEARLY_FULL', bytes, budgetBytes, tables }, NEARLY_FULL);
  }
}

const NEARLY_FULL =
  'the database takes more than 70 % of ATOLL_DATABASE_BUDGET: give it a larger disk and raise the budget, or look which table grows; docs/reference/hub-health.md#size-of-the-database';
