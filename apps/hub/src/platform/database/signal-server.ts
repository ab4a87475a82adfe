/**
 * Signals to a PostgreSQL of ours as a whole. Its processes are no process group, and the first of them passes on only what
 * ends the others: one that was frozen (a debugger, a machine that was put to sleep) stays so until it is told itself.
 */
import { readdir, readFile } from 'node:fs/promises';

/** To the server and all processes of it. Those that end meanwhile are passed over; rejects never. */
export async function signalServer(pid: number, signal: NodeJS.Signals): Promise<void> {
  for (const each of [pid, ...(await listChildren(pid))]) {
    try {
      process.kill(each, signal);
    } catch {
      // It has ended.
    }
  }
}

/** None where there is no /proc. */
async function listChildren(pid: number): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const stats = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')),
  );
  return stats.filter((stat) => parentOf(stat) === pid).map((stat) => Number.parseInt(stat, 10));
}

/** Field 4 of proc_pid_stat(5); the name before it may hold spaces and brackets itself. */
const parentOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
