import { describe, expect, it } from 'vitest';
import { FirstLook } from './first-look.ts';

const scene = (keys: readonly string[]) => {
  const synced = Promise.withResolvers<void>();
  const woken: string[] = [];
  const told: unknown[] = [];
  const look = new FirstLook({
    cache: { whenSynced: () => synced.promise, keys: () => [...keys] },
    wake: (key) => woken.push(key),
    log: (_level, _message, fields) => told.push(fields),
    ageMs: () => 412.4,
  });
  return { look, synced, woken, told };
};

describe('the first look', () => {
  it('wakes everything once the picture is complete, and tells once when all of it was looked at', async () => {
    const { look, synced, woken, told } = scene(['shop/a', 'shop/b']);
    look.looked('shop/a'); // before the picture was complete nobody could look properly
    synced.resolve();
    await expect.poll(() => woken).toEqual(['shop/a', 'shop/b']);
    look.looked('shop/a');
    look.looked('shop/a');
    expect(told).toEqual([]);
    look.looked('shop/b');
    look.looked('shop/b');
    expect(told).toEqual([{ redisClusters: 2, afterMs: 412 }]);
  });

  it('is over at once where there is nothing', async () => {
    const { synced, told } = scene([]);
    synced.resolve();
    await expect.poll(() => told).toEqual([{ redisClusters: 0, afterMs: 412 }]);
  });

  it('never begins in a process that ends before', async () => {
    const { synced, woken, told } = scene(['shop/a']);
    synced.reject(new Error('stopped'));
    await synced.promise.catch(() => undefined);
    expect([woken, told]).toEqual([[], []]);
  });
});
