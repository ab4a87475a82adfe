import { expect, it } from 'vitest';
import { ClockWatch } from './watch-clock.ts';

const makeClock = () => {
  const time = { wall: 1_000_000, monotonic: 500 };
  const clock = { nowMs: () => time.wall, monotonicMs: () => time.monotonic };
  const pass = (ms: number, wallMs = ms): void => {
    time.monotonic += ms;
    time.wall += wallMs;
  };
  return { watch: new ClockWatch(clock), pass };
};

it('trusts a clock that goes on, however long nobody looked', () => {
  const { watch, pass } = makeClock();
  expect(watch.isSteady()).toBe(true);
  pass(3_600_000);
  expect(watch.isSteady()).toBe(true);
  pass(60_000, 60_400); // slewed by NTP
  expect(watch.isSteady()).toBe(true);
});

it.each([3_600_000, -3_600_000])(
  'does not trust a clock that was set by %i ms, and takes the new time after a while',
  (step) => {
    const { watch, pass } = makeClock();
    watch.isSteady();
    pass(1_000, 1_000 + step);
    expect(watch.isSteady()).toBe(false);
    pass(5_000);
    expect(watch.isSteady()).toBe(false);
    pass(5_001);
    expect(watch.isSteady()).toBe(true);
  },
);
