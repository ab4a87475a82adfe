import { expect, it } from 'vitest';
import { chooseFault, FAULTS, seededRandom } from './choose-fault.ts';

const run = (seed: number): unknown[] => {
  const random = seededRandom(seed);
  return Array.from({ length: 200 }, () => chooseFault(random));
};

it('repeats itself for a seed, and differs for another', () => {
  expect(run(7)).toEqual(run(7));
  expect(run(7)).not.toEqual(run(8));
});

it('chooses each fault, with pauses within their bounds', () => {
  const chosen = run(1) as ReturnType<typeof chooseFault>[];
  expect(new Set(chosen.map((each) => each.fault))).toEqual(new Set(FAULTS));
  expect(chosen.every((each) => each.pauseMs >= 4_000 && each.pauseMs < 16_000 && each.pick < 1)).toBe(true);
});
