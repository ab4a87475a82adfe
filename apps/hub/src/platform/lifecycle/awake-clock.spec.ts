import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AwakeClock } from './awake-clock.ts';
import { CommitWatch } from './commit-watch.ts';

let said: { readonly code?: string; readonly blockedMs?: number }[] = [];
let clock: AwakeClock;
let blockedMs = 0;
let stops: (() => void)[] = [];
const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) });

beforeEach(() => {
  vi.useFakeTimers();
  [said, blockedMs] = [[], 0];
  clock = new AwakeClock(() => performance.now() + blockedMs);
  stops = [clock.start(log)];
});
afterEach(() => {
  for (const stop of stops) stop();
  vi.useRealTimers();
});

/** Time goes on, and no timer and no socket of this process is served. */
const block = (ms: number): void => void (blockedMs += ms);

describe('a clock of a process that is blocked', () => {
  it('goes like any other while the process runs', async () => {
    const beganMs = clock.nowMs();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(clock.nowMs() - beganMs).toBeCloseTo(60_000, 0);
    expect(said).toEqual([]);
  });

  it('stands still meanwhile, also for who asks before the first timer, and says so', async () => {
    const beganMs = clock.nowMs();
    block(6_000);
    expect(clock.nowMs() - beganMs).toBeLessThanOrEqual(250);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(clock.nowMs() - beganMs).toBeLessThanOrEqual(1_250);
    expect(said).toMatchObject([{ code: 'EVENT_LOOP_BLOCKED' }]);
    expect(said[0]?.blockedMs).toBeGreaterThanOrEqual(5_700);
  });

  it('never goes back', async () => {
    let before = clock.nowMs();
    for (let at = 0; at < 200; at += 1) {
      if (at % 7 === 0) block(at * 10);
      await vi.advanceTimersByTimeAsync(at % 5 === 0 ? 130 : 37);
      const now = clock.nowMs();
      expect(now).toBeGreaterThanOrEqual(before);
      before = now;
    }
  });
});

describe('a commit that was answered in time', () => {
  it('is not held against the disk when this process was blocked and read the answer late', async () => {
    const commits = new CommitWatch({ log, nowMs: () => clock.nowMs() });
    stops.push(commits.start(() => Promise.resolve()));
    let answer: () => void = () => undefined;
    const commit = commits.watch('PROBE', () => new Promise<void>((done) => (answer = done)));
    await vi.advanceTimersByTimeAsync(100);
    block(8_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(commits.isCommitting).toBe(true);
    answer();
    await commit;
    expect(commits.isCommitting).toBe(true);
    expect(said.map(({ code }) => code)).toEqual(['EVENT_LOOP_BLOCKED']);
  });

  it('and one that is not answered is held against it, in a process that gets half of its time', async () => {
    const commits = new CommitWatch({ log, nowMs: () => clock.nowMs() });
    stops.push(commits.start(() => new Promise(() => undefined)));
    for (let at = 0; at < 30; at += 1) {
      block(400);
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(commits.isCommitting).toBe(false);
  });
});
