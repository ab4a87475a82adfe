import { expect, it } from 'vitest';
import { GapMeter } from './measure-gap.ts';
import { OverlapMeter } from './measure-overlap.ts';

it('answers the longest time between two successes, and when it was', () => {
  const meter = new GapMeter(1_000);
  for (const at of [1_010, 1_015, 1_315, 1_320]) meter.succeeded(at);
  expect(meter.longest(1_321)).toEqual({ ms: 300, fromMs: 15, toMs: 315 });
});

it('counts an outage that has not ended, and nothing before the first success', () => {
  const meter = new GapMeter(0);
  expect(meter.longest(5_000).ms).toBe(0);
  meter.succeeded(5_000);
  expect(meter.longest(7_000).ms).toBe(2_000);
});

it('starts anew when it is reset, but a gap that is on goes on', () => {
  const meter = new GapMeter(0);
  meter.succeeded(0);
  meter.succeeded(500);
  expect(meter.reset(600).ms).toBe(500);
  meter.succeeded(650);
  expect(meter.longest(650).ms).toBe(150);
});

it('tells how long two pods took writes at the same time', () => {
  const meter = new OverlapMeter();
  meter.accepted('a', 0);
  meter.accepted('a', 100);
  meter.accepted('b', 110);
  meter.accepted('a', 150);
  meter.accepted('b', 160);
  meter.refused('a');
  meter.accepted('b', 900);
  expect(meter.longestMs).toBe(40); // from the first of b (110) to the last of a (150)
});

it('sees no overlap in a plain change of primary', () => {
  const meter = new OverlapMeter();
  meter.accepted('a', 0);
  meter.accepted('a', 100);
  meter.refused('a');
  meter.accepted('b', 110);
  meter.accepted('b', 200);
  expect(meter.longestMs).toBe(0);
});
