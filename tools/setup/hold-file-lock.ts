import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs `work` while holding an exclusive lock on the file at `path` (made when missing), waiting for it first. The
 * kernel keeps the lock for a small `flock` process that ends when this process does, however it ends: no lock is
 * left behind.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await lockFile(path, []);
  if (!release) throw new Error(`flock could not lock ${path}`);
  return work().finally(release);
}

/** As withFileLock(), but does nothing and returns false when somebody else holds the lock. */
export async function ifFileLocked(path: string, work: () => Promise<void>): Promise<boolean> {
  const release = await lockFile(path, ['-n']);
  if (!release) return false;
  await work().finally(release);
  return true;
}

async function lockFile(path: string, flags: readonly string[]): Promise<(() => Promise<void>) | undefined> {
  const holder = spawn('flock', [...flags, '--no-fork', path, 'sh', '-c', 'echo locked; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C in a terminal must not release it before the work is undone
  });
  const ended = once(holder, 'exit');
  const locked = once(holder.stdout, 'data').then(() => true);
  if (!(await Promise.race([locked, ended.then(() => false)]))) return undefined;
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
