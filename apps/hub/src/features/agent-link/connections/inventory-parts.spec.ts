import { describe, expect, it } from 'vitest';

import { InventoryParts, MAX_INVENTORY_CHARACTERS } from './inventory-parts.ts';

const object = (at: number, length: number) => ({
  hubUid: `0190a5c2-0000-7000-8000-${String(at).padStart(12, '0')}`,
  hubGeneration: 1,
  specHash: 'a'.repeat(64),
  namespace: 'n'.repeat(length),
  name: 'm'.repeat(length),
  unclaimed: false,
});
const chunkOf = (count: number, length: number) => Array.from({ length: count }, (_, at) => object(at, length));

describe('the parts of an inventory', () => {
  it('are as many as an agent of 5,000 objects with the longest names needs', () => {
    const parts = new InventoryParts();
    for (let at = 0; at < 5; at += 1) parts.add(chunkOf(1_000, 253));
    expect(parts.objects).toHaveLength(5_000);
  });

  it('end below 16 MiB of text, however they are cut', () => {
    const parts = new InventoryParts();
    const fill = (): void => {
      for (let at = 0; at < 1_000; at += 1) parts.add(chunkOf(100, 512));
    };
    expect(fill).toThrow('the inventory has no end');
    const kept = parts.objects.reduce((sum, { namespace, name }) => sum + namespace.length + name.length, 0);
    expect(kept).toBeLessThan(MAX_INVENTORY_CHARACTERS);
    expect(kept).toBeGreaterThan(MAX_INVENTORY_CHARACTERS / 2);
  });
});
