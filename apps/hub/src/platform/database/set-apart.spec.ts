import { pino } from 'pino';
import { expect, it } from 'vitest';

import { Metrics } from '../telemetry/metrics.ts';
import { SetApart } from './set-apart.ts';

it('an owner that is set apart waits longer each time, is named once until it passes, and is counted', async () => {
  let nowMs = 0;
  const lines: string[] = [];
  const metrics = new Metrics();
  const log = pino({ level: 'info' }, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const apart = new SetApart({ work: 'status', log, metrics, nowMs: () => nowMs });
  const counted = async (): Promise<number | undefined> => (await metrics.setApart.get()).values[0]?.value;
  const pauses: number[] = [];
  for (let tries = 1; tries <= 9; tries += 1) {
    expect(apart.fail('a', new Error('no'))).toEqual({ tries, sinceMs: 0 });
    expect([apart.waits('a'), apart.waits('b')]).toEqual([true, false]);
    pauses.push(apart.nextInMs() ?? NaN);
    nowMs += apart.nextInMs() ?? 0;
    expect(apart.waits('a')).toBe(false);
  }
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(await counted()).toBe(1);
  apart.pass('a');
  apart.pass('a');
  expect([await counted(), apart.size, apart.nextInMs()]).toEqual([0, 0, undefined]);
  expect(lines.map((line) => line.slice(0, 19))).toEqual(['work fails for one ', 'work for an owner t']);
});
