import { ANNOTATION, formatObjectKey } from '#domain';
import type { ObjectKey, RedisClusterObject } from '#domain';
import { EMPTY_DIGEST, digestOf } from '#protocol';
import { describe, expect, it } from 'vitest';
import { leaveOutCopies } from './leave-out-copies.ts';
import { ManagedIndex } from './managed-index.ts';

const KEY = { namespace: 'shop', name: 'cart' };

function createWorld() {
  const objects = new Map<string, RedisClusterObject>();
  const listeners = new Set<(key: ObjectKey) => void>();
  let nowMs = 0;
  const index = new ManagedIndex(
    {
      list: () => [...objects.values()],
      get: (key) => objects.get(formatObjectKey(key)),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      isSynced: () => true,
    },
    { nowMs: () => nowMs, monotonicMs: () => nowMs },
  );
  index.open();
  let last: ObjectKey = KEY;
  return {
    index,
    pass: (ms: number) => (nowMs += ms),
    watch: (object: RedisClusterObject | undefined) => {
      if (object !== undefined) last = { namespace: KEY.namespace, name: object.metadata.name };
      if (object === undefined) objects.delete(formatObjectKey(last));
      else objects.set(formatObjectKey(last), object);
      for (const listener of listeners) listener(last);
    },
    digest: () => index.digest(() => true),
  };
}

const object = (generation: number, resourceVersion: number, uid = 'k1'): RedisClusterObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: {
    ...KEY,
    uid,
    resourceVersion: String(resourceVersion),
    annotations: {
      [ANNOTATION.hubUid]: 'u1',
      [ANNOTATION.hubGeneration]: String(generation),
      [ANNOTATION.specHash]: `h${generation}`,
    },
  },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
});
const digest = (generation: number): string =>
  digestOf([{ hubUid: 'u1', hubGeneration: generation, specHash: `h${generation}` }]);

describe('the index of managed objects', () => {
  it('counts our own write before the watch brings it, and the cache from then on', () => {
    const world = createWorld();
    world.watch(object(1, 10));
    world.index.wrote(object(2, 12));
    expect(world.digest()).toBe(digest(2));
    // An event from before our write.
    world.watch(object(1, 11));
    expect(world.digest()).toBe(digest(2));
    world.watch(object(2, 12));
    world.watch(object(3, 13));
    expect(world.digest()).toBe(digest(3));
  });

  it('counts what we deleted no longer, though the cache still has it', () => {
    const world = createWorld();
    world.watch(object(1, 10));
    world.index.sawGone(KEY);
    expect(world.digest()).toBe(EMPTY_DIGEST);
    world.watch(object(1, 11));
    expect(world.digest()).toBe(EMPTY_DIGEST);
    world.watch(undefined);
    world.watch(object(4, 20, 'k2'));
    expect(world.digest()).toBe(digest(4));
  });

  it('does not keep an object that came and went between two questions', () => {
    const world = createWorld();
    world.index.wrote(object(1, 10));
    world.watch(object(1, 10));
    world.watch(undefined);
    expect(world.digest()).toBe(EMPTY_DIGEST);
  });

  it('believes the cache again when a write has not come back for a minute', () => {
    const world = createWorld();
    world.index.wrote(object(1, 10));
    world.pass(61_000);
    expect(world.digest()).toBe(EMPTY_DIGEST);
  });

  it('counts a hubUid once: the named object, else the oldest, whatever copies of it there are', () => {
    const at = (name: string, creationTimestamp: string, named = false): RedisClusterObject => {
      const one = object(1, 10, `uid-${name}`);
      const { annotations = {} } = one.metadata;
      const hubName = named ? { [ANNOTATION.hubName]: `shop/${name}` } : {};
      return {
        ...one,
        metadata: { ...one.metadata, name, creationTimestamp, annotations: { ...annotations, ...hubName } },
      };
    };
    const [young, old] = [at('young', '2026-11-30T10:00:01Z'), at('old', '2026-11-30T10:00:00Z')];
    const named = at('named', '2026-11-30T10:00:02Z', true);
    const nameOf = (...objects: RedisClusterObject[]): string[] =>
      leaveOutCopies(objects).map(({ metadata }) => metadata.name);
    expect([nameOf(young, old), nameOf(old, young), nameOf(old, named, young)]).toEqual([['old'], ['old'], ['named']]);
    const world = createWorld();
    world.watch(old);
    world.index.wrote(young);
    expect(world.digest()).toBe(digest(1));
    expect(['old', 'young'].map((name) => world.index.isCopy({ namespace: 'shop', name }, 'u1'))).toEqual([
      false,
      true,
    ]);
    expect(world.index.isCopy({ namespace: 'shop', name: 'old' }, 'u2')).toBe(false);
    world.watch(undefined);
    expect(world.index.isCopy({ namespace: 'shop', name: 'young' }, 'u1')).toBe(false);
  });
});
