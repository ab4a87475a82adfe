import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { LOCK, WORKER_LOCK } from './advisory-locks.ts';

const ROOT = new URL('../../', import.meta.url);
/** Numbers of this family, and locks by a number that is written where it is taken. */
const NUMBER = /7_?162_?\d{3}|advisory\w*lock\(\s*\d/;

describe('the numbers of advisory locks', () => {
  it('are distinct', () => {
    const numbers = [...Object.values(LOCK), ...Object.values(WORKER_LOCK)];
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('stand in one file alone', () => {
    const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.includes('.spec.'),
    );
    expect(files.length).toBeGreaterThan(100);
    const withNumbers = files.filter((file) => NUMBER.test(readFileSync(new URL(file, ROOT), 'utf8')));
    expect(withNumbers).toEqual(['platform/database/advisory-locks.ts']);
  });
});
