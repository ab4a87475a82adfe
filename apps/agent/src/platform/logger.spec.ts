import { KubeError } from '#kube';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createLog } from './logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('the log of an agent', () => {
  it('says once a minute, in a few hundred bytes, that an object is refused with its whole content', () => {
    const lines: string[] = [];
    const log = createLog('info', {}, { write: (line) => void lines.push(line) });
    const message = `Secret "x" is invalid: ${'c2VjcmV0'.repeat(100_000)}`;
    for (let i = 0; i < 300; i += 1) {
      const error = new KubeError({ message, reason: 'Invalid', code: 422, status: { message } });
      log('warn', 'status not written', { redisCluster: `tenant/${i % 2}`, error, password: 'p4ss' });
      vi.advanceTimersByTime(100);
    }
    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(60_000);
    const told = lines.map((line) => JSON.parse(line) as { repeated?: number; error: string });
    expect(told.map(({ repeated }) => repeated)).toEqual([undefined, undefined, 149, 149]);
    expect(told[2]?.error).toMatch(/^Secret "x" is invalid: /);
    expect(lines.join('').length).toBeLessThan(4_000);
    expect(lines.join('')).not.toContain('p4ss');
  });

  it('keeps other lines of one object, and every line at debug', () => {
    const lines: string[] = [];
    const log = createLog('debug', {}, { write: (line) => void lines.push(line) });
    for (let i = 0; i < 100; i += 1) log('debug', 'pass', { redisCluster: 'a/b', i });
    for (let i = 0; i < 3; i += 1) log('info', 'leading', { why: `${i}` });
    expect(lines).toHaveLength(103);
  });
});
