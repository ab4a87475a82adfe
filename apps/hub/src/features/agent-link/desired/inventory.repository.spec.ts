import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';

import { InventoryRepository } from './inventory.repository.ts';

describe('the pause before the next comparison of inventories', () => {
  const nowMs = Date.UTC(2026, 10, 30);
  const pauseAfter = (agoMs: number | null): Promise<number> => {
    const at = agoMs === null ? null : new Date(nowMs - agoMs);
    const dataSource = { query: () => Promise.resolve([{ at }]) } as unknown as DataSource;
    return new InventoryRepository(dataSource).pauseBeforeNext('agent', 60_000, nowMs);
  };

  it('is what is left of it, and none the first time', async () => {
    expect([await pauseAfter(null), await pauseAfter(20_000), await pauseAfter(90_000)]).toEqual([0, 40_000, 0]);
  });

  it('is not the size of a step back of the clock', async () => {
    expect(await pauseAfter(-3_600_000)).toBe(60_000);
  });
});
