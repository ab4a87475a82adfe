/**
 * Lets go of rows past their keep. What is old is told by the clock of the database alone, and nothing goes while it and the
 * clock of this replica differ: one of them is wrong, and by a wrong one the whole audit may seem past its keep. (The keeper
 * of the partitions says so in the log.)
 */
import type { Clock } from '#domain';
import type { EntityManager } from 'typeorm';
import { readDatabaseMs } from '../../../platform/database/partitions.ts';
import { trimAudit } from './chain.repository.ts';

export const DEFAULT_KEEP_DAYS = 400;
const ROWS_AT_ONCE = 1_000;
const AGAIN_MS = 500;
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;

export async function trimWork(tx: EntityManager, clock: Clock, keepDays: number): Promise<number | undefined> {
  const differenceMs = clock.nowMs() - (await readDatabaseMs(tx));
  if (Math.abs(differenceMs) > MAX_CLOCK_DIFFERENCE_MS) return undefined;
  return (await trimAudit(tx, keepDays, ROWS_AT_ONCE)) >= ROWS_AT_ONCE ? AGAIN_MS : undefined;
}
