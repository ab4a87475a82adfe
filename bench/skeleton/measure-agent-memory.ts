import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryCommand } from '../../tools/setup/run-command.ts';

const SETTLE_MS = 20_000;

/** Resident memory of one agent process after a while of idleness, in MiB: the larger of the agents on this machine. */
export async function measureAgentMemory(): Promise<number> {
  await sleep(SETTLE_MS);
  const { stdout } = await tryCommand(['pgrep', '-f', '/app/(start|agent)\\.']);
  const pids = stdout.trim().split('\n').filter(Boolean);
  if (pids.length === 0) throw new Error('no agent process found on this machine');
  const kib = await Promise.all(
    pids.map(async (pid) => Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)),
  );
  return Math.max(...kib) / 1024;
}
