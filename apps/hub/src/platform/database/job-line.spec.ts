import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobLine, TooManyJobs } from './job-line.ts';

const LIMITS = { slots: 7, perOwner: 4, reserved: 2, maxWaiting: 20, maxWaitMs: 10_000 };

/** Enters many jobs and notes the order in which they begin. */
class Scene {
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  readonly leaves = new Map<string, () => void>();
  readonly line = new JobLine(LIMITS);

  enter(owner: string, count: number): void {
    for (let each = 0; each < count; each += 1) {
      const job = `${owner}${each}`;
      this.line.enter(owner, (error, leave) => {
        if (error instanceof TooManyJobs) this.refused.push(job);
        else this.begun.push(job);
        this.leaves.set(job, leave);
      });
    }
  }

  end(job: string): void {
    this.leaves.get(job)?.();
  }
}

let scene: Scene;
beforeEach(() => {
  vi.useFakeTimers();
  scene = new Scene();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the line for connections of the API', () => {
  it('runs four jobs of one owner and keeps the others waiting', () => {
    scene.enter('a', 10);
    expect(scene.begun).toEqual(['a0', 'a1', 'a2', 'a3']);
    expect(scene.line.count('a')).toEqual({ running: 4, waiting: 6 });
    scene.end('a1');
    expect(scene.begun.at(-1)).toBe('a4');
  });

  it('lets a third owner begin at once beside two that ask for everything', () => {
    scene.enter('a', 10);
    scene.enter('b', 10);
    expect(scene.line.count('a').running + scene.line.count('b').running).toBe(5);
    scene.enter('c', 1);
    scene.enter('d', 1);
    expect(scene.begun.slice(-2)).toEqual(['c0', 'd0']);
  });

  it('gives the owners that wait their turns one after the other', () => {
    for (const owner of 'abcdefg') scene.enter(owner, 1);
    scene.enter('h', 3);
    scene.enter('i', 3);
    for (const job of ['a0', 'b0', 'c0', 'd0', 'e0', 'f0']) scene.end(job);
    expect(scene.begun.slice(7)).toEqual(['h0', 'i0', 'h1', 'i1']);
  });

  it('refuses a job beyond those that may wait, and one that has waited for too long', () => {
    scene.enter('a', 25);
    expect(scene.refused).toEqual(['a24']);
    vi.advanceTimersByTime(LIMITS.maxWaitMs);
    expect(scene.line.count('a')).toEqual({ running: 4, waiting: 0 });
    expect(scene.refused).toHaveLength(21);
  });

  it('counts a job once that is left twice, and forgets owners without jobs', () => {
    scene.enter('a', 1);
    scene.end('a0');
    scene.end('a0');
    scene.enter('a', 10);
    expect(scene.line.count('a').running).toBe(4);
    expect(scene.line.count('b')).toEqual({ running: 0, waiting: 0 });
  });
});
