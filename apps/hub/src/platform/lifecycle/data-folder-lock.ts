/**
 * One hub per data folder. A second one started by mistake would adopt the first one's database, fail at its port, and
 * stop the database in passing. The lock names the process and when it began, since a pid alone is reused.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the way to release it. Throws when a live process holds it. */
export async function lockDataFolder(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'hub.lock');
  const mine = `${process.pid} ${await readStartTime(process.pid)}`;
  const release = (): Promise<void> => rm(file, { force: true });
  try {
    await writeFile(file, mine, { flag: 'wx' });
    return release;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const held = await readFile(file, 'utf8').catch(() => '');
  const pid = Number(held.split(' ')[0]);
  if (held === `${pid} ${await readStartTime(pid)}`) {
    throw new Error(`another hub (pid ${pid}) uses ${dataDir}: give this one an ATOLL_DATA_DIR of its own`);
  }
  await writeFile(file, mine);
  return release;
}

/** In clock ticks after boot (proc_pid_stat(5), field 22); 'gone' for no such process. */
async function readStartTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in brackets may hold spaces and brackets itself.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 'gone';
}
