import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { AdmissionLines } from './admission-lines.ts';

/** Takes all, in turn. */
function takeAll(lines: AdmissionLines<string>): string[] {
  const taken: string[] = [];
  for (let source = lines.next; source !== undefined; source = lines.next) {
    taken.push(lines.takeOldest(source) ?? 'nobody');
    lines.passTurn(source);
  }
  return taken;
}

function fill(entries: readonly string[]): AdmissionLines<string> {
  const lines = new AdmissionLines<string>();
  for (const entry of entries) lines.add(entry.charAt(0), entry);
  return lines;
}

describe('the lines before admission', () => {
  it('have one turn a source and round, the oldest of each first', () => {
    expect(takeAll(fill(['a1', 'a2', 'a3', 'b1', 'c1', 'c2']))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('are one line in the order of arrival when all come from one address', () => {
    expect(takeAll(fill(['a1', 'a2', 'a3']))).toEqual(['a1', 'a2', 'a3']);
  });

  it('leave the turn where it is when somebody is taken out without one', () => {
    const lines = fill(['a1', 'a2', 'b1']);
    lines.takeOldest('a');
    expect(lines.next).toBe('a');
    lines.takeNewest('a');
    expect(lines.next).toBe('b');
    expect(lines.takeNewest('a')).toBeUndefined();
  });

  it('know their longest at every step', () => {
    const step = fc.record({
      source: fc.constantFrom('a', 'b', 'c', 'd'),
      kind: fc.constantFrom('add', 'add', 'oldest', 'newest', 'pass'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lines = new AdmissionLines<number>();
        const model = new Map<string, number[]>();
        for (const [at, { source, kind }] of steps.entries()) {
          const line = model.get(source) ?? [];
          if (kind === 'add') {
            lines.add(source, at);
            model.set(source, [...line, at]);
          } else if (kind === 'pass') lines.passTurn(source);
          else {
            expect(kind === 'oldest' ? lines.takeOldest(source) : lines.takeNewest(source)).toBe(
              kind === 'oldest' ? line.shift() : line.pop(),
            );
          }
          const lengths = [...model.values()].map(({ length }) => length);
          const longest = Math.max(0, ...lengths);
          expect(lines.longest).toBe(longest);
          expect(lines.length).toBe(lengths.reduce((sum, length) => sum + length, 0));
          expect(lines.sources).toBe(lengths.filter((length) => length > 0).length);
          expect(lines.lengthOf(lines.longestSource ?? 'none')).toBe(longest);
        }
      }),
    );
  });
});
