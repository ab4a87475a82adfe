/**
 * Whether a maintenance window is open at an instant, and when it closes or the next one opens. Windows are told in wall
 * clock time of a time zone, so each occurrence is turned into an instant by that zone's rules of that day: where the
 * clock is put forward over the start, it begins with the hour that exists; where the hour comes twice, with the first.
 * The length is elapsed time, so a night with 25 hours makes no window longer. Without this, a window would be an hour
 * off for half of the year.
 */
import { parseDurationMs } from '#domain';
import type { MaintenanceWindow } from '#domain';

export type WindowState =
  | { readonly open: true; readonly closesAtMs: number }
  /** `opensAtMs` is undefined when none of them ever opens. */
  | { readonly open: false; readonly opensAtMs: number | undefined };

const DAY_MS = 86_400_000;
const DAY_NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

export const findMaintenanceWindow = (windows: readonly MaintenanceWindow[], nowMs: number): WindowState => {
  const occurrences = windows.flatMap((window) => listOccurrences(window, nowMs));
  const open = occurrences.filter(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs);
  if (open.length > 0) return { open: true, closesAtMs: Math.max(...open.map(({ toMs }) => toMs)) };
  const coming = occurrences.map(({ fromMs }) => fromMs).filter((fromMs) => fromMs > nowMs);
  return { open: false, opensAtMs: coming.length === 0 ? undefined : Math.min(...coming) };
};

/** Those that began yesterday up to those that begin in eight days: a window lasts at most 24 hours. */
const listOccurrences = (window: MaintenanceWindow, nowMs: number): { fromMs: number; toMs: number }[] => {
  const clock = wallClockOf(window.timeZone ?? 'UTC');
  const [hour = NaN, minute = NaN] = window.start.split(':').map(Number);
  const lengthMs = parseDurationMs(window.duration);
  if (lengthMs === undefined || Number.isNaN(hour + minute)) return [];
  const days = window.days ?? [];
  const today = clock(nowMs);
  return Array.from({ length: 10 }, (_, index) => Math.floor(today / DAY_MS) * DAY_MS + (index - 1) * DAY_MS)
    .filter((day) => days.length === 0 || days.includes(DAY_NAMES[new Date(day).getUTCDay()] ?? ''))
    .map((day) => instantOf(clock, day + (hour * 60 + minute) * 60_000))
    .map((fromMs) => ({ fromMs, toMs: fromMs + lengthMs }));
};

/** What a clock on the wall shows at an instant, written as if it were UTC. */
type WallClock = (instantMs: number) => number;

const wallClockOf = (timeZone: string): WallClock => {
  const format = makeFormat(timeZone);
  return (instantMs) => {
    const parts = Object.fromEntries(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
};

/** A zone that this machine does not know is read as UTC; validateSpec has refused it where it could be. */
const makeFormat = (timeZone: string): Intl.DateTimeFormat => {
  const fields = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...fields, timeZone });
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...fields, timeZone: 'UTC' });
  }
};

/** The zone's distance from UTC the day before and the day after give the only two instants that can show this time. */
const instantOf = (clock: WallClock, wallMs: number): number => {
  const distances = [-DAY_MS, DAY_MS].map((shift) => clock(wallMs + shift) - (wallMs + shift));
  const candidates = distances.map((distance) => wallMs - distance).sort((a, b) => a - b);
  return candidates.find((instant) => clock(instant) === wallMs) ?? wallMs - (distances[0] ?? 0);
};
