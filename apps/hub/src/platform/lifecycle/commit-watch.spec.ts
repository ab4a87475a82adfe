import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CommitWatch } from './commit-watch.ts';

let said: { readonly code?: string; readonly level: number }[] = [];
let commits: CommitWatch;
let ends: (() => void)[] = [];
let stop: () => void;
let probes = 0;
let answer: () => Promise<unknown>;

beforeEach(() => {
  vi.useFakeTimers();
  [said, ends, probes] = [[], [], 0];
  answer = () => Promise.resolve();
  const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) });
  commits = new CommitWatch({ log, nowMs: () => performance.now() });
  stop = commits.start(() => {
    probes += 1;
    return answer();
  });
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

/** A database that hangs until the returned function is called. */
const hang = (): void => {
  answer = () => new Promise<void>((done) => ends.push(done));
};
const heal = (): void => {
  answer = () => Promise.resolve();
  for (const end of ends.splice(0)) end();
};
/** Whether it is ready, looked at each second of so many. */
async function lookFor(seconds: number): Promise<boolean[]> {
  const seen = [];
  for (let at = 0; at < seconds; at += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    seen.push(commits.isCommitting);
  }
  return seen;
}

describe('a replica whose database', () => {
  it('commits is ready, and asks itself only while nothing else commits', async () => {
    expect(await lookFor(20)).not.toContain(false);
    expect(probes).toBeGreaterThan(5);
    const before = probes;
    for (let at = 0; at < 20; at += 1) {
      await commits.watch('STATUS', () => Promise.resolve());
      await lookFor(1);
    }
    expect(probes).toBeLessThanOrEqual(before + 1);
    expect(said).toEqual([]);
  });

  it('hangs in its commits is not ready within seconds, says so once, and is ready again after some calm', async () => {
    hang();
    const seen = await lookFor(30);
    expect(seen.indexOf(false)).toBeLessThanOrEqual(8);
    expect(seen.slice(seen.indexOf(false))).not.toContain(true);
    heal();
    expect(await lookFor(8)).not.toContain(true);
    expect(await lookFor(4)).toContain(true);
    expect(said.map(({ code, level }) => code ?? level)).toEqual(['DATABASE_COMMITS_HANG', 30]);
  });

  it('is slow stays ready: a disk that takes two seconds for each commit', async () => {
    answer = () => new Promise((done) => setTimeout(done, 2_000));
    expect(await lookFor(60)).not.toContain(false);
  });

  it('takes six seconds for each commit is not ready all the time, in place of now and then', async () => {
    answer = () => new Promise((done) => setTimeout(done, 6_000));
    const seen = await lookFor(120);
    expect(seen.slice(seen.indexOf(false))).not.toContain(true);
    expect(said).toHaveLength(1);
  });

  it('ends each commit by a failure after half a minute is not ready in between either', async () => {
    answer = () => new Promise((_, failed) => setTimeout(() => failed(new Error('has not answered')), 30_000));
    const seen = await lookFor(120);
    expect(seen.slice(seen.indexOf(false))).not.toContain(true);
  });

  it('refuses is not called hanging: others see that at once', async () => {
    answer = () => Promise.reject(new Error('refused'));
    expect(await lookFor(60)).not.toContain(false);
  });

  it('lets status wait for a lock is ready, while others commit too: its commit is killed and tried again, and hangs again', async () => {
    const wait = (): Promise<unknown> =>
      commits.watch('STATUS', () => {
        return new Promise((_, failed) => setTimeout(() => failed(new Error('has not answered')), 30_000));
      });
    for (let again = 0; again < 4; again += 1) {
      const waiting = wait().catch(() => undefined);
      for (let at = 0; at < 30; at += 1) {
        await commits.watch('STATUS', () => Promise.resolve());
        expect(await lookFor(1)).toEqual([true]);
      }
      await waiting;
    }
    expect(probes).toBeGreaterThan(20);
    expect(said).toEqual([]);
  });

  it('hangs after status has waited for a lock for long is not ready within seconds either', async () => {
    const waiting = commits.watch('STATUS', () => new Promise<void>((done) => ends.push(done)));
    expect(await lookFor(20)).not.toContain(false);
    hang();
    const seen = await lookFor(30);
    expect(seen.indexOf(false)).toBeGreaterThan(0);
    expect(seen.slice(seen.indexOf(false))).not.toContain(true);
    heal();
    await waiting;
  });
});
