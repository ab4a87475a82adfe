import { expect, it } from 'vitest';
import { planHaproxy } from './raise-file-limit.ts';

it('starts HAProxy as often as the limit of open files takes', () => {
  expect(planHaproxy(1_000, 20_000)).toEqual({ processes: 1, each: 9_500 });
  expect(planHaproxy(10_000, 20_000)).toEqual({ processes: 2, each: 9_500 });
  expect(planHaproxy(10_000, 65_536).processes).toBe(1);
});
