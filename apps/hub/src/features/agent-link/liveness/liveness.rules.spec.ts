import { describe, expect, it } from 'vitest';

import { judgeAll, type SeenRow } from './liveness.rules.ts';

const row = (agentId: string, verdict: SeenRow['verdict'], ageMs: number): SeenRow => ({ agentId, verdict, ageMs });
const look = { fleetSize: 100, inGrace: false, silent: 0, nowMs: 1_000_000 };

describe('liveness', () => {
  it('turns LATE at 45 s, UNKNOWN at 90 s, and FRESH again', () => {
    const rows = [
      row('a', 'FRESH', 45_000),
      row('b', 'LATE', 90_000),
      row('c', 'UNKNOWN', 1_000),
      row('d', 'FRESH', 44_999),
    ];
    expect(judgeAll(rows, look).verdicts).toEqual([
      { agentId: 'c', verdict: 'FRESH' },
      { agentId: 'a', verdict: 'LATE' },
      { agentId: 'b', verdict: 'UNKNOWN' },
    ]);
  });

  it('judges nobody worse while the hub was away itself', () => {
    const rows = [row('a', 'FRESH', 600_000), row('b', 'LATE', 1_000)];
    expect(judgeAll(rows, { ...look, inGrace: true }).verdicts).toEqual([{ agentId: 'b', verdict: 'FRESH' }]);
  });

  it('puts a mass verdict off until a second look', () => {
    const rows = Array.from({ length: 21 }, (_, index) => row(`agent-${index}`, 'LATE', 95_000));
    expect(judgeAll(rows, look)).toEqual({ verdicts: [], putOff: true, isMass: true });
    expect(judgeAll(rows, { ...look, massSinceMs: look.nowMs - 14_000 }).putOff).toBe(true);
    const second = judgeAll(rows, { ...look, massSinceMs: look.nowMs - 15_000 });
    expect(second.putOff).toBe(false);
    expect(second.verdicts).toHaveLength(21);
  });

  it('takes those that fell silent together for a mass, though they are lost one after the other', () => {
    const first = [row('a', 'LATE', 90_000), row('b', 'FRESH', 95_000), row('c', 'FRESH', 50_000)];
    const massive = { ...look, silent: 30 };
    const late = (agentId: string): object => ({ agentId, verdict: 'LATE' });
    expect(judgeAll(first, massive)).toEqual({ verdicts: [late('b'), late('c')], putOff: true, isMass: true });
    const massSinceMs = look.nowMs - 15_000;
    expect(judgeAll(first, { ...massive, massSinceMs })).toMatchObject({ putOff: false, isMass: true });
    // Confirmed once, it stays so for those that follow, until few are silent.
    expect(judgeAll([], { ...massive, massSinceMs }).isMass).toBe(true);
    expect(judgeAll([], { ...look, silent: 20, massSinceMs }).isMass).toBe(false);
    expect(judgeAll([], massive).isMass).toBe(false);
  });

  it('judges a small fleet at once', () => {
    const rows = [row('a', 'LATE', 95_000), row('b', 'LATE', 95_000)];
    expect(judgeAll(rows, { ...look, fleetSize: 2 }).verdicts).toHaveLength(2);
  });
});
