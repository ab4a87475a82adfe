import { describe, expect, it } from 'vitest';
import { BYTES, costOf, FRAMES, FrameBudgets, takeTokens } from './frame-budget.ts';

const size = { perSecond: 10, burst: 5 };

describe('what a frame costs', () => {
  const many = Array.from({ length: 5_000 }, () => ({}));
  it.each([
    ['Heartbeat', {}, 1],
    ['KeyRotation', {}, 100],
    ['StatusBatch', { items: many }, 501],
    ['StatusBatch', { items: [], guests: many }, 501],
    ['DesiredAck', { outcomes: many }, 501],
    ['EventBatch', { items: [] }, 1],
  ])('a %s of %j', (type, payload, cost) => {
    expect(costOf({ type, nonce: 'a', payload } as never)).toBe(cost);
  });

  it('lets an agent tell 20 MiB of objects at once', () => {
    expect(takeTokens(undefined, BYTES, { cost: 20 * 2 ** 20, nowMs: 0 }).waitMs).toBe(0);
    expect(takeTokens({ tokens: 0, atMs: 0 }, BYTES, { cost: 800 * 1024, nowMs: 0 }).waitMs).toBe(1_000);
  });

  it('lets an agent of 5,000 objects ack and tell all of them at once', () => {
    expect(2 * 501).toBeLessThan(FRAMES.burst + FRAMES.perSecond);
  });
});

describe('what an agent may send', () => {
  it('is at once as much as the burst, then waits for its turn', () => {
    let bucket;
    const waits = [];
    for (let frame = 0; frame < 8; frame += 1) {
      const taken = takeTokens(bucket, size, { cost: 1, nowMs: 0 });
      bucket = taken.bucket;
      waits.push(taken.waitMs);
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 100, 200, 300]);
  });

  it.each([
    ['fills up again with time, never beyond the burst', 60_000, 5, 0],
    ['comes in bit by bit', 100, 2, 100],
    ['is not less after a clock that stepped back', -5_000, 1, 100],
  ])('%s', (_what, passedMs, cost, waitMs) => {
    const empty = { tokens: 0, atMs: 0 };
    expect(takeTokens(empty, size, { cost, nowMs: passedMs }).waitMs).toBe(waitMs);
  });

  it('counts for each agent alone, and outlives its connections', () => {
    const budgets = new FrameBudgets(size);
    for (let frame = 0; frame < 5; frame += 1) budgets.take('a', 1, 0);
    expect(budgets.take('a', 1, 0)).toBe(100);
    expect(budgets.take('b', 1, 0)).toBe(0);
  });

  it('is not taken by what would wait for longer than it has patience', () => {
    const budgets = new FrameBudgets(size);
    expect(budgets.take('a', 15, 0, 500)).toBe(Infinity);
    expect(budgets.take('a', 5, 0, 500)).toBe(0);
  });
});
