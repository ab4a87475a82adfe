/**
 * Reads postmaster.pid, by which a start finds the server that an earlier hub left behind when it was killed. A pid
 * alone proves nothing, since pids are reused: the process must also be a postgres of this very data folder.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Postmaster {
  readonly pid: number;
  readonly socketDir: string;
}

/** Lines of the file: pid, data folder, start time, port, socket folder, listen address, shared memory, status. */
export function parsePostmasterFile(text: string): Postmaster | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  return { pid, socketDir: lines[4] ?? '' };
}

/** The live server of this data folder, if there is one. `stale`: the file is there, its process is not. */
export async function findPostmaster(dataFolder: string): Promise<Postmaster | 'stale' | undefined> {
  const text = await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const postmaster = parsePostmasterFile(text);
  if (!postmaster) return 'stale';
  return (await isPostgresOf(postmaster.pid, dataFolder)) ? postmaster : 'stale';
}

async function isPostgresOf(pid: number, dataFolder: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const words = commandLine.split('\0');
  return (words[0] ?? '').endsWith('postgres') && words.includes(dataFolder);
}

/** Also true for a process of another user, which cannot be signalled. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resolves true when the process is gone, false after the time-out. */
export async function waitUntilGone(pid: number, timeoutMs: number): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; isAlive(pid);) {
    if (performance.now() > end) return false;
    await new Promise((done) => setTimeout(done, 20));
  }
  return true;
}
