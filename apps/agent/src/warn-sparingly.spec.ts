import { expect, it } from 'vitest';
import { warnSparingly } from './warn-sparingly.ts';

it('warns once a minute for each name, and tells the rest at level debug', () => {
  let nowMs = 0;
  const told: string[] = [];
  const warn = warnSparingly((level, message) => told.push(`${level} ${message}`), {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
  });
  warn('a', 'a', {});
  warn('a', 'a', {});
  warn('b', 'b', {});
  nowMs = 59_999;
  warn('a', 'a', {});
  nowMs = 60_000;
  warn('a', 'a', {});
  expect(told).toEqual(['warn a', 'debug a', 'warn b', 'debug a', 'warn a']);
});
