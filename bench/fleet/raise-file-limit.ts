import { readFileSync } from 'node:fs';
import { runCommand } from '../../tools/setup/run-command.ts';

/** HAProxy holds two sockets an agent; the rest is PostgreSQL, logs and modules. */
const PER_CLUSTER = 2;
const REST = 2_000;

/** File descriptors for the largest fleet, here and in whatever is started from here. Throws with what to do. */
export async function raiseFileLimit(clusters: number, log: (line: string) => void): Promise<void> {
  const wanted = clusters * PER_CLUSTER + REST;
  const line = /^Max open files\s+(\d+)\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  if (Number(line?.[1] ?? 0) >= wanted) return;
  try {
    await runCommand(['prlimit', `--pid=${process.pid}`, `--nofile=${wanted}:${wanted}`]);
    log(`open files: raised from ${line?.[1] ?? '?'} to ${wanted}`);
  } catch (error) {
    throw new Error(
      `${clusters} agents need ${wanted} open files, and the limit is ${line?.[1] ?? '?'}: ulimit -n ${wanted}`,
      {
        cause: error,
      },
    );
  }
}
