import { describe, expect, it } from 'vitest';

import { type Commit, hangs, isCalm, needsProbe } from './commit-health.rules.ts';

const never = { anyMs: -Infinity, probeMs: -Infinity };
const probedAt = (ms: number): typeof never => ({ anyMs: ms, probeMs: ms });
const status: Commit = { kind: 'STATUS', beganMs: 100_000 };
const probe: Commit = { kind: 'PROBE', beganMs: 100_000 };

describe('a commit', () => {
  it.each([
    ['a small one of 4.9 s', probe, 104_900, never, false],
    ['a small one of 5 s', probe, 105_000, never, true],
    ['a small one of 5 s after others that passed', probe, 105_000, probedAt(99_000), true],
    ['status of 14.9 s', status, 114_900, never, false],
    ['status of 15 s, without a small one', status, 115_000, never, true],
    ['status of 15 s, after a small one', status, 115_000, probedAt(99_999), true],
    ['status of 15 s, beside status that passed', status, 115_000, { anyMs: 114_000, probeMs: 99_000 }, true],
    ['status of 15 s, beside a small one that passed', status, 115_000, probedAt(100_500), false],
    ['status of 30 s, beside a small one that passed', status, 130_000, probedAt(129_000), false],
  ])('%s: whether it hangs', (_, commit, nowMs, last, expected) => {
    expect(hangs(commit, nowMs, last)).toBe(expected);
  });
});

describe('a probe', () => {
  it.each([
    ['nothing ever committed', [], 100_000, never, true],
    ['status committed a second ago', [], 100_000, { anyMs: 99_000, probeMs: 0 }, false],
    ['status committed two seconds ago', [], 100_000, { anyMs: 98_000, probeMs: 0 }, true],
    ['status has begun and other status committed', [status], 101_000, { anyMs: 101_000, probeMs: 0 }, false],
    ['status lasts and other status committed', [status], 102_000, { anyMs: 102_000, probeMs: 0 }, true],
    ['status lasts and a probe committed a second ago', [status], 110_000, probedAt(109_000), false],
    ['status lasts and a probe committed two seconds ago', [status], 110_000, probedAt(108_000), true],
  ])('%s: whether it is time for one', (_, underWay, nowMs, last, expected) => {
    expect(needsProbe(underWay, last, nowMs)).toBe(expected);
  });
});

describe('calm', () => {
  it('is ten seconds without a hang', () => {
    expect([isCalm(100_000, 109_999), isCalm(100_000, 110_000)]).toEqual([false, true]);
  });
});
