/**
 * After the address of the database leads elsewhere, connections of the pool may still lead to the one before. What is
 * read there is the old epoch, which would pass for the new one; so the work is done on a connection that was looked at,
 * and those to others that come up on the way are ended by their own server.
 */
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';

import { type DatabaseLineage, isSameLineage, READ_LINEAGE } from './hub-identity.ts';

/** More than the pool holds. */
const MAX_CONNECTIONS = 64;

/** Rejects when no connection to `lineage` is to be had. */
export async function workOnLineage<T>(
  dataSource: DataSource,
  lineage: DatabaseLineage,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  for (let looked = 0; looked < MAX_CONNECTIONS; looked += 1) {
    const runner = dataSource.createQueryRunner();
    try {
      if (await leadsTo(runner, lineage)) return await work(runner.manager);
      await runner.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    } finally {
      await runner.release();
    }
  }
  throw new Error('no connection leads to the database that was found last');
}

/** One that breaks under the question leads nowhere. */
async function leadsTo(runner: QueryRunner, lineage: DatabaseLineage): Promise<boolean> {
  const rows = (await runner.query(READ_LINEAGE).catch(() => [])) as DatabaseLineage[];
  return rows[0] !== undefined && isSameLineage(rows[0], lineage);
}
