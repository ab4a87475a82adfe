/** CPU and memory of processes, read from /proc: the same figures that an operator sees from outside. */
import { readFileSync } from 'node:fs';

/** USER_HZ, the unit of /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Usage {
  /** CPU seconds spent so far, by it and its children. */
  readonly cpuSeconds: number;
  readonly rssMib: number;
  /** Highest RSS since its start; of children, the sum of their own. */
  readonly peakMib: number;
}

/** Its own, and that of children which have ended: utime, stime, cutime, cstime. */
function readCpuSeconds(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold spaces and brackets; what follows the last one does not.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** PostgreSQL's backends share its buffers, so of children only their own memory is added. */
function readMemory(pid: number, isChild: boolean): { rssMib: number; peakMib: number } {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mib = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
    return isChild
      ? { rssMib: mib('RssAnon'), peakMib: mib('RssAnon') }
      : { rssMib: mib('VmRSS'), peakMib: mib('VmHWM') };
  } catch {
    return { rssMib: 0, peakMib: 0 };
  }
}

/** Of a process with one thread, as PostgreSQL is. */
function listChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** What a process and its direct children used so far, those that have ended too. */
export function readUsage(pid: number): Usage {
  const own = { cpuSeconds: readCpuSeconds(pid), ...readMemory(pid, false) };
  return listChildren(pid).reduce(
    (sum, child) => addUsage(sum, { cpuSeconds: readCpuSeconds(child), ...readMemory(child, true) }),
    own,
  );
}

export const readUsageOfAll = (pids: readonly number[]): Usage =>
  pids.map(readUsage).reduce(addUsage, { cpuSeconds: 0, rssMib: 0, peakMib: 0 });

const addUsage = (left: Usage, right: Usage): Usage => ({
  cpuSeconds: left.cpuSeconds + right.cpuSeconds,
  rssMib: left.rssMib + right.rssMib,
  peakMib: left.peakMib + right.peakMib,
});

/** Percent of one core between two looks. */
export const coreShare = (before: Usage, after: Usage, seconds: number): number =>
  Math.max(0, ((after.cpuSeconds - before.cpuSeconds) / seconds) * 100);
