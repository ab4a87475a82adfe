import { describe, expect, it } from 'vitest';

import { planDrain, spreadMs } from './drain.rules.ts';

describe('a drain', () => {
  it('lets agents go about as fast as other replicas admit them, and waits for them', () => {
    expect(planDrain(10_000, 2)).toEqual({ windowMs: 33_334, waitMs: 33_334 });
    expect(planDrain(1, 1)).toEqual({ windowMs: 4, waitMs: 4 });
  });

  it('of a hub that is alone waits for nobody; its agents come back spread', () => {
    expect(planDrain(10_000, 0)).toEqual({ windowMs: 33_334, waitMs: 0 });
  });

  it('ends before Kubernetes loses its patience', () => {
    expect(spreadMs(1_000_000)).toBe(45_000);
  });
});
