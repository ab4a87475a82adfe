import pino from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';

import { NOTHING_SPENT, planRetry, type Spent } from './start-patience.rules.ts';
import { StartPatience } from './start-patience.ts';

describe('the pauses of a start', () => {
  it('grow from a quarter of a second to five, spread by half', () => {
    const pauses = [0, 1, 2, 3, 4, 5, 20].map((failures) => {
      const [short, long] = [0, 1].map((random) => planRetry({ ms: 0, failures }, 0, random));
      return [short, long].map((plan) => (plan === 'GIVE_UP' || plan === undefined ? 0 : plan.pauseMs));
    });
    expect(pauses).toEqual([
      [125, 250],
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [2_000, 4_000],
      [2_500, 5_000],
      [2_500, 5_000],
    ]);
  });

  it('end after a minute in all, however long each attempt takes', () => {
    for (const attemptMs of [0, 5, 900, 20_000, 3_600_000]) {
      let spent: Spent = NOTHING_SPENT;
      for (;;) {
        const plan = planRetry(spent, attemptMs, 1);
        if (plan === 'GIVE_UP') break;
        expect(plan.spent.ms).toBeGreaterThan(spent.ms);
        spent = plan.spent;
      }
      expect(spent.ms).toBeLessThanOrEqual(60_000);
      expect(spent.ms).toBeGreaterThan(20_000);
    }
  });
});

describe('a start whose database takes nobody yet', () => {
  let [nowMs, said]: [number, { code: string; givesUpInMs: number; msg: string }[]] = [0, []];
  let patience: StartPatience;
  beforeEach(() => {
    [nowMs, said] = [0, []];
    patience = new StartPatience({
      log: pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) }),
      nowMs: () => nowMs,
      random: () => 1,
      pause: (ms) => Promise.resolve((nowMs += ms)),
    });
  });
  const fail = (code: string, message = 'no'): Promise<never> =>
    Promise.reject(Object.assign(new Error(message), { code }));

  it('goes on when it can, and says once why it waits', async () => {
    const failures = ['53300', '53300', '57P03', 'ECONNREFUSED'];
    const done = await patience.carry(() => {
      const code = failures.shift();
      return code === undefined ? Promise.resolve('done') : fail(code);
    });
    expect(done).toBe('done');
    expect(said.map(({ code }) => code)).toEqual(['DATABASE_FULL', 'DATABASE_STARTING', 'DATABASE_REFUSED']);
    expect(said[0]?.msg).toContain('max_connections');
  });

  it('ends after a minute with what it failed of last, over all steps together', async () => {
    await expect(patience.carry(() => (nowMs < 30_000 ? fail('53300') : Promise.resolve(1)))).resolves.toBe(1);
    await expect(patience.carry(() => fail('57P03', 'the database system is starting up'))).rejects.toThrow(
      'starting up',
    );
    expect(nowMs).toBeLessThanOrEqual(60_000);
    expect(nowMs).toBeGreaterThan(50_000);
    expect(said.length).toBeLessThan(10);
    expect(said.at(-1)?.givesUpInMs).toBeLessThan(20_000);
  });

  it('does not try again what comes again', async () => {
    await expect(patience.carry(() => fail('28P01', 'wrong password'))).rejects.toThrow('wrong password');
    expect([nowMs, said]).toEqual([0, []]);
  });
});
