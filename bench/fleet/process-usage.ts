/** CPU and memory of processes, read from /proc: the same figures that an operator sees from outside. */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, the unit of /proc/PID/stat; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Usage {
  /** CPU seconds spent so far, by it and its children. */
  readonly cpuSeconds: number;
  readonly rssMib: number;
  /** Highest RSS since its start; of children, the sum of their own. */
  readonly peakMib: number;
}

interface Stat {
  readonly parent: number;
  readonly cpuSeconds: number;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold spaces and brackets; what follows the last one does not.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Its own, and that of children which have ended: utime, stime, cutime, cstime.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
  } catch {
    return undefined;
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

const listProcesses = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** What a process and its direct children used so far, those that have ended too. */
export function readUsage(pid: number): Usage {
  const children = listProcesses().filter((other) => readStat(other)?.parent === pid);
  const own = { cpuSeconds: readStat(pid)?.cpuSeconds ?? 0, ...readMemory(pid, false) };
  return children.reduce((sum, child): Usage => {
    const memory = readMemory(child, true);
    return {
      cpuSeconds: sum.cpuSeconds + (readStat(child)?.cpuSeconds ?? 0),
      rssMib: sum.rssMib + memory.rssMib,
      peakMib: sum.peakMib + memory.peakMib,
    };
  }, own);
}

/** Percent of one core between two looks. */
export const coreShare = (before: Usage, after: Usage, seconds: number): number =>
  Math.max(0, ((after.cpuSeconds - before.cpuSeconds) / seconds) * 100);
