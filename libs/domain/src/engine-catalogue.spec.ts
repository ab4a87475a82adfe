import { describe, expect, it } from 'vitest';
import { type EngineVersion, ENGINE_LINES, findUpgradeEdge, rdbVersionOf } from './engine-catalogue.ts';

const engine = (text: string): EngineVersion => {
  const [type = '', version = ''] = text.split(' ');
  return { type: type === 'Valkey' ? 'Valkey' : 'Redis', version };
};

/** As real servers answered: rows wrote, columns read their files. Lower versions of the same engine are refused at once. */
const READERS = ['Redis 7.0', 'Redis 8.0', 'Redis 8.6', 'Valkey 8.1', 'Valkey 9.1'];
const MEASURED: readonly (readonly [string, string])[] = [
  ['Redis 7.0.15', 'yes yes yes yes yes'],
  ['Redis 8.0.2', 'no yes yes no no'],
  ['Redis 8.6.3', 'no no yes no no'],
  ['Valkey 8.1.1', 'no yes yes yes yes'],
  ['Valkey 9.1.2', 'no no no no yes'],
];

describe('findUpgradeEdge', () => {
  it.each(MEASURED)('knows who reads what %s wrote', (from, answers) => {
    const found = READERS.map((to) => (findUpgradeEdge(engine(from), engine(to)).allowed ? 'yes' : 'no'));
    expect(found.join(' ')).toBe(answers);
  });

  it.each([
    ['Redis 8.0.2', 'Valkey 8.1', 'RdbNotReadable', /RDB version 12/],
    ['Valkey 8.1.1', 'Redis 7.0', 'RdbNotReadable', /reads 10 and older/],
    ['Redis 8.0.2', 'Redis 7.4', 'VersionTooOld', /Use 8\.0\.2 or newer/],
    ['Redis 8.0.2', 'Redis 8.0.1', 'VersionTooOld', /8\.0\.1/],
    ['Redis 9.9.9', 'Valkey 9.1', 'UnknownEngine', /Redis 9\.9\.9 is not in the catalogue/],
  ])('refuses %s → %s as %s', (from, to, reason, message) => {
    expect(findUpgradeEdge(engine(from), engine(to))).toMatchObject({
      allowed: false,
      reason,
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['Redis 8.0.2', 'Redis 8.0'],
    ['Redis 9.9.9', 'Redis 9.10'],
    ['Redis 7.2.4', 'Valkey 7.2'],
    ['Redis 7.2.4', 'Valkey 9.0'],
  ])('allows %s → %s', (from, to) => {
    expect(findUpgradeEdge(engine(from), engine(to))).toEqual({ allowed: true });
  });

  it('has an RDB version for every line that a spec may name', () => {
    for (const type of ['Redis', 'Valkey'] as const) {
      for (const version of ENGINE_LINES[type]) expect(rdbVersionOf({ type, version })).toBeGreaterThan(9);
    }
  });
});
