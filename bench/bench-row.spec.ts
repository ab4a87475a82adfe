import { expect, it } from 'vitest';
import { asBenchRow, formatBenchTable, percentile } from './bench-row.ts';

it('takes the nearest rank', () => {
  const samples = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([percentile(samples, 0.5), percentile(samples, 0.99), percentile([7], 0.99)]).toEqual([50, 99, 7]);
  expect(() => percentile([], 0.5)).toThrow('no samples');
});

it('says whether the goal was met, and nothing where there is none', () => {
  expect(asBenchRow({ name: 'a', value: 10.04, unit: 'ms', goal: 10 })).toMatchObject({ value: 10, met: false });
  expect(asBenchRow({ name: 'a', value: 9, unit: 'ms' }).met).toBeNull();
});

it('prints the ratio to the peer', () => {
  const row = asBenchRow({ name: 'latency', value: 50, unit: 'ms', peer: 'somebody', peerValue: 100, goal: 60 });
  expect(formatBenchTable([row]).split('\n')[1]).toMatch(/^latency {2}50 ms +100 ms +0\.50 +≤ 60 ms +met +somebody$/);
});
