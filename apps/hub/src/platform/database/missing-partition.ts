/**
 * What happens to a row for which there is no partition (the machine was suspended, the database was away for hours, a clock
 * was put forward): whichever statement meets the gap has it made at once, and its work is tried again until it is.
 * Without this everything that writes a change would fail until the next look at the partitions, ten minutes later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

import { onFailedStatement } from './on-failed-statement.ts';
import { isPartitionMissing } from './sql-state.ts';

const PAUSE_MS = 150;
const TRIES = 20;

/** `listener` hears of every statement of this data source that met a gap. Returns the way to stop. */
export const onMissingPartition = (dataSource: DataSource, listener: () => void): (() => void) =>
  onFailedStatement(dataSource, (error) => {
    if (isPartitionMissing(error)) listener();
  });

/** `work` is a transaction of its own, and is done anew while the partition that it needs is being made: three seconds. */
export async function untilPartitioned<T>(
  work: () => Promise<T>,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !isPartitionMissing(error)) throw error;
      await pause(PAUSE_MS);
    }
  }
}
