import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EMPTY_STATE,
  becomeNewAgent,
  claim,
  countDelete,
  enterEpoch,
  formatState,
  parseState,
  raiseRevision,
  rememberTombstone,
  setRevision,
  setUnclaimed,
} from './agent-state.ts';
import type { AgentState } from './agent-state.ts';

const DAY_MS = 24 * 3600_000;
const gone = (atMs: number) => ({ operation: 'DELETE', atMs }) as const;
const state = fc
  .record({
    hubEpoch: fc.uuid(),
    appliedRevision: fc.nat(),
    tombstones: fc.uniqueArray(
      fc.tuple(
        fc.uuid(),
        fc.constantFrom('DELETE' as const, 'ORPHAN' as const),
        fc.nat({ max: 2_000_000_000 }),
        fc.option(fc.uuid(), { nil: undefined }),
      ),
      { selector: ([uid]) => uid },
    ),
    recentDeletesMs: fc.array(fc.nat()),
    unclaimed: fc.uniqueArray(fc.uuid()),
    recentChangesMs: fc.dictionary(fc.uuid(), fc.nat()),
    heldChanges: fc.dictionary(fc.uuid(), fc.record({ key: fc.constant('shop/cart'), specHash: fc.uuid() })),
  })
  .map((raw): AgentState => ({
    ...raw,
    tombstones: new Map(
      raw.tombstones.map(([uid, operation, s, approvalId]) => [
        uid,
        { operation, atMs: s * 1000, ...(approvalId === undefined ? {} : { approvalId }) },
      ]),
    ),
    unclaimed: new Set(raw.unclaimed),
    recentChangesMs: new Map(Object.entries(raw.recentChangesMs)),
    heldChanges: new Map(Object.entries(raw.heldChanges)),
  }));

describe('the state an agent keeps', () => {
  it('comes back from its ConfigMap as it was', () => {
    fc.assert(
      fc.property(state, (value) => {
        expect(parseState(formatState(value))).toEqual(value);
      }),
    );
  });

  it('is empty when the ConfigMap is lost or holds something else', () => {
    expect(parseState({})).toEqual(EMPTY_STATE);
    expect(
      parseState({
        appliedRevision: '-4',
        tombstones: 'x\ny DELETE z',
        recentDeletes: 'soon',
        recentChanges: 'a',
        heldChanges: 'b c',
      }),
    ).toEqual(EMPTY_STATE);
  });

  it('never lowers its revision by a late message', () => {
    expect(raiseRevision(setRevision(EMPTY_STATE, 7), 5).appliedRevision).toBe(7);
    expect(raiseRevision(setRevision(EMPTY_STATE, 7), 9).appliedRevision).toBe(9);
  });

  it('starts anew with another epoch or agent id, but remembers what was deleted', () => {
    const known = rememberTombstone({ ...EMPTY_STATE, hubEpoch: 'a', appliedRevision: 9 }, 'u1', gone(0));
    expect(enterEpoch(known, 'a')).toBe(known);
    expect(enterEpoch(known, 'b')).toMatchObject({ hubEpoch: 'b', appliedRevision: 0 });
    expect(becomeNewAgent(known).hubEpoch).toBeUndefined();
    for (const next of [enterEpoch(known, 'b'), becomeNewAgent(known)]) expect(next.tombstones.has('u1')).toBe(true);
  });

  it('remembers tombstones for 30 days, and 5,000 of them, the newest', () => {
    const old = rememberTombstone(EMPTY_STATE, 'old', gone(0));
    expect(rememberTombstone(old, 'new', gone(29 * DAY_MS)).tombstones.has('old')).toBe(true);
    expect(rememberTombstone(old, 'new', gone(30 * DAY_MS)).tombstones.has('old')).toBe(false);
    const entries = Array.from({ length: 5_001 }, (_, at) => [`u${at}`, { operation: 'DELETE', atMs: at }] as const);
    const many: AgentState = { ...EMPTY_STATE, tombstones: new Map(entries) };
    const capped = rememberTombstone(many, 'last', { operation: 'ORPHAN', atMs: 5_002 });
    expect(capped.tombstones.size).toBe(5_000);
    expect(capped.tombstones.has('u0')).toBe(false);
    expect(capped.tombstones.has('last')).toBe(true);
    expect(JSON.stringify(formatState(capped)).length).toBeLessThan(512 * 1024);
  });

  it('counts only the deletes of the last five minutes', () => {
    const counted = countDelete(countDelete(EMPTY_STATE, 0), 200_000);
    expect(counted.recentDeletesMs).toEqual([0, 200_000]);
    expect(countDelete(counted, 301_000).recentDeletesMs).toEqual([200_000, 301_000]);
  });

  it('claims what the hub has taken up', () => {
    const unclaimed = setUnclaimed(EMPTY_STATE, ['u1', 'u2']);
    expect([...claim(unclaimed, 'u1').unclaimed]).toEqual(['u2']);
    expect(claim(unclaimed, 'u3')).toBe(unclaimed);
  });
});
