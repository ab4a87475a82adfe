/** Keeps the hub's own workers of one kind from working while a test does what they would. */
import type { EntityManager } from 'typeorm';

import { WORKER_LOCK } from '../src/platform/database/advisory-locks.ts';
import type { TestHub } from './start-test-hub.ts';

/** Work that is running ends first. Call `release` when done. */
export async function holdClaim(
  hub: TestHub,
  kind: keyof typeof WORKER_LOCK,
): Promise<{ readonly manager: EntityManager; release(): Promise<void> }> {
  const runner = hub.runtime.dataSource.createQueryRunner();
  await runner.query('SELECT pg_advisory_lock($1)', [WORKER_LOCK[kind]]);
  const release = async (): Promise<void> => {
    await runner.query('SELECT pg_advisory_unlock($1)', [WORKER_LOCK[kind]]);
    await runner.release();
  };
  return { manager: runner.manager, release };
}
