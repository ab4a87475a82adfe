import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { OutageWatch } from './outage-watch.ts';

let said: { readonly code?: string; readonly msg: string }[] = [];
let answer: () => Promise<unknown>;
let [probes, renewals] = [0, 0];
let watch: OutageWatch;
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [said, probes, renewals] = [[], 0, 0];
  answer = () => Promise.resolve();
  watch = new OutageWatch({
    log: pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) }),
    nowMs: () => performance.now(),
    probe: () => {
      probes += 1;
      return answer();
    },
    onReadOnly: () => (renewals += 1),
  });
  stop = watch.start();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

const failing = (code: string): Error => Object.assign(new Error('no'), { driverError: { code } });
const pass = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1_000);

describe('a database of which a statement fails', () => {
  it('is not asked for anything while nothing fails', async () => {
    await pass(600);
    expect(probes).toBe(0);
  });

  it.each(['25006', '53100', '53200', '53400', '58030'])(
    'of %s is probed, and is well when the probe passes',
    async (code) => {
      for (let at = 0; at < 100; at += 1) watch.note(failing(code));
      await pass(60);
      expect(watch.current).toBeUndefined();
      // However many fail: each probe costs a megabyte.
      expect(probes).toBeLessThanOrEqual(6);
      expect(said).toEqual([]);
    },
  );

  it('is told to be useless when the probe fails too: once, and when it is over', async () => {
    answer = () => Promise.reject(failing('53100'));
    watch.note(failing('53100'));
    await pass(1);
    expect(watch.current).toBe('DATABASE_DISK_FULL');
    await pass(300);
    expect(watch.current).toBe('DATABASE_DISK_FULL');
    expect(said.map(({ code }) => code)).toEqual(['DATABASE_DISK_FULL']);
    expect(said[0]?.msg).toContain('make room');
    answer = () => Promise.resolve();
    await pass(3);
    expect(watch.current).toBe('DATABASE_DISK_FULL');
    await pass(5);
    expect(watch.current).toBeUndefined();
    expect(said.map(({ msg }) => msg).at(-1)).toBe('the database takes writes again');
    await pass(60);
    expect(said).toHaveLength(2);
  });

  it('of what is its own affair is not probed: its content, a lock, a cut connection', async () => {
    for (const code of ['23505', '22P05', '55P03', '08006', '57P01']) watch.note(failing(code));
    await pass(60);
    expect(probes).toBe(0);
  });
});

describe('an outage', () => {
  it('is not over because the database went away altogether', async () => {
    watch.found(failing('25006'));
    answer = () => Promise.reject(failing('ECONNREFUSED'));
    await pass(60);
    expect(watch.current).toBe('DATABASE_READ_ONLY');
  });

  it('renews the connections for as long as they lead to a database that takes no writes', async () => {
    answer = () => Promise.reject(failing('25006'));
    watch.found(failing('25006'));
    await pass(20);
    expect(renewals).toBeGreaterThan(5);
    const before = renewals;
    answer = () => Promise.resolve();
    await pass(20);
    expect(renewals).toBeLessThanOrEqual(before + 1);
  });

  it('changes its name with its cause', async () => {
    watch.found(failing('25006'));
    watch.found(failing('53100'));
    expect([watch.current, said.length]).toEqual(['DATABASE_DISK_FULL', 2]);
    await pass(1);
  });
});
