import { describe, expect, it } from 'vitest';

import {
  type Admission,
  advanceAdmission,
  beginAdmission,
  isStale,
  isWorthQueueing,
  judgeNewcomer,
  type Load,
  MAX_WAIT_MS,
  takeToken,
} from './admission.rules.ts';

const CALM: Load = { lagMs: 5, waitingHellos: 0 };

/** Admits whatever it may, each 25 ms of `seconds`; returns how many went in, and the state. */
function admitFor(seconds: number, load: Load, from: Admission): { readonly count: number; readonly after: Admission } {
  let after = from;
  let count = 0;
  for (const end = from.atMs + seconds * 1_000; after.atMs < end;) {
    after = advanceAdmission(after, after.atMs + 25, load);
    for (; after.tokens >= 1; count += 1) after = takeToken(after);
  }
  return { count, after };
}

describe('admission', () => {
  it('climbs to four hundred handshakes a second while the event loop is easy, and no further', () => {
    const { after } = admitFor(10, CALM, beginAdmission(0));
    const { count } = admitFor(10, CALM, after);
    expect(count).toBeGreaterThan(3_950);
    expect(count).toBeLessThanOrEqual(4_010);
  });

  it('lets the first ones in at once', () => {
    expect(beginAdmission(0).tokens).toBeGreaterThanOrEqual(10);
  });

  it('falls while the event loop lags, and never to a stop', () => {
    const { after } = admitFor(5, { ...CALM, lagMs: 300 }, beginAdmission(0));
    expect(after.perSecond).toBe(20);
    expect(admitFor(5, { ...CALM, lagMs: 300 }, after).count).toBeGreaterThanOrEqual(99);
  });

  it('holds its rate under a lag that is neither easy nor hard', () => {
    expect(admitFor(5, { ...CALM, lagMs: 100 }, beginAdmission(0)).after.perSecond).toBe(200);
  });

  it('counts one long pause once, and does not make up for it in one burst', () => {
    const paused = advanceAdmission(beginAdmission(0), 2_000, { ...CALM, lagMs: 1_975 });
    expect(paused.perSecond).toBe(140);
    expect(paused.tokens).toBe(14);
    expect(advanceAdmission(paused, 2_025, { ...CALM, lagMs: 1_500 }).perSecond).toBe(140);
  });

  it('waits for the database when Hellos queue up before it', () => {
    const { count } = admitFor(2, { ...CALM, waitingHellos: 401 }, { ...beginAdmission(0), tokens: 0 });
    expect(count).toBe(0);
  });
});

describe('the queue', () => {
  it('takes no more than have their turn before they give up', () => {
    const admission = beginAdmission(0);
    expect(isWorthQueueing(admission, 699)).toBe(true);
    expect(isWorthQueueing(admission, 700)).toBe(false);
    expect(isWorthQueueing({ ...admission, perSecond: 20 }, 70)).toBe(false);
  });

  it('drops one whose agent has given up', () => {
    expect(isStale(MAX_WAIT_MS)).toBe(false);
    expect(isStale(MAX_WAIT_MS + 1)).toBe(true);
  });
});

describe('one more for the queue', () => {
  const full = { isWorthQueueing: false, ofItsSource: 0, ofTheLongest: 700, sources: 1 };

  it.each([
    ['waits while there is room, whatever its source has there', { ...full, isWorthQueueing: true }, 'WAITS'],
    ['of a source that has nothing there takes a place of the longest', full, 'REPLACES'],
    ['of a source with less than the longest does too', { ...full, ofItsSource: 348, ofTheLongest: 350 }, 'REPLACES'],
    [
      'does not when that would only change who is the longest',
      { ...full, ofItsSource: 349, ofTheLongest: 350 },
      'FULL',
    ],
    [
      'of the longest is turned away for its share',
      { ...full, ofItsSource: 350, ofTheLongest: 350, sources: 2 },
      'SHARE',
    ],
    ['of a source that is alone is turned away as ever', { ...full, ofItsSource: 700 }, 'FULL'],
    ['among as many sources as places is turned away', { ...full, ofTheLongest: 1, sources: 700 }, 'FULL'],
    ['of one of these too', { ...full, ofItsSource: 1, ofTheLongest: 1, sources: 700 }, 'FULL'],
  ] as const)('%s', (_, newcomer, verdict) => {
    expect(judgeNewcomer(newcomer)).toBe(verdict);
  });
});
