/**
 * File descriptors: hub and simulator need one for each agent, HAProxy two. The limit is a process's own and is inherited, so it
 * is raised here as far as this machine lets us; HAProxy, which needs the most, is started as often as it then takes.
 */
import { readFileSync } from 'node:fs';
import { runCommand } from '../../tools/setup/run-command.ts';

/** PostgreSQL's sockets, logs, modules. */
const REST = 1_000;

const readLimit = (): number =>
  Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0);

/** Returns the limit that holds from here on, also for what is started from here. Throws with what to do when it is too low. */
export async function raiseFileLimit(clusters: number, log: (line: string) => void): Promise<number> {
  const before = readLimit();
  const wanted = 2 * clusters + REST;
  if (before >= wanted) return before;
  const raised = await runCommand(['prlimit', `--pid=${process.pid}`, `--nofile=${wanted}:${wanted}`]).then(
    () => true,
    () => false,
  );
  const limit = readLimit();
  log(`open files: ${before}${raised ? `, raised to ${limit}` : ', and may not be raised here'}`);
  if (limit >= clusters + REST) return limit;
  throw new Error(`${clusters} agents need ${clusters + REST} open files, and the limit is ${limit}: ulimit -n`);
}

/** How many processes of HAProxy it takes, and the connections that each is let to hold. */
export function planHaproxy(
  clusters: number,
  fileLimit: number,
): { readonly processes: number; readonly each: number } {
  const each = Math.floor((fileLimit - REST) / 2);
  // The kernel spreads connections by a hash, not evenly: a tenth is left.
  return { processes: Math.ceil((clusters * 1.1) / each), each };
}
