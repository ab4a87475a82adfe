/**
 * What the hub is told of the status, in every order of proof, ack, change, end and replacement. The clock is a fake one.
 */
import { formatObjectKey } from '#domain';
import type { ObjectKey, RedisClusterObject } from '#domain';
import { EMPTY_DIGEST, MAX_FRAME_BYTES, statusDigestOf } from '#protocol';
import type { StatusBatch, StatusItem } from '#protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GuestNumbers } from './guest-numbers.ts';
import { StatusOutbox } from './status-outbox.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const guestOf = (name: string): RedisClusterObject =>
  ({
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      annotations: { 'redis.atoll.dev/hub-uid': `hub-${name}` },
    },
  }) as unknown as RedisClusterObject;

class World {
  readonly objects = new Map<string, RedisClusterObject>();
  readonly sent: StatusBatch[] = [];
  readonly outbox: StatusOutbox;
  unclaimed = false;
  synced = true;
  /** Names of objects that another agent pushed, with what this one knows of them. */
  readonly guests = new Map<string, number | undefined>();

  constructor(names: readonly string[] = [], maxFrameBytes = MAX_FRAME_BYTES) {
    for (const name of names) this.put(name);
    this.outbox = new StatusOutbox({
      store: {
        list: () => [...this.objects.values()],
        get: (key) => this.objects.get(formatObjectKey(key)),
        onChange: () => () => undefined,
        isSynced: () => this.synced,
      },
      extrasOf: () => ({ unclaimed: this.unclaimed }),
      guests: new GuestNumbers({
        guests: {
          list: () => [...this.guests.keys()].map(guestOf),
          get: ({ name }) => (this.guests.has(name) ? guestOf(name) : undefined),
        },
        numbersOf: ({ name }) => {
          const keys = this.guests.get(name);
          return keys === undefined ? undefined : { keys };
        },
      }),
      send: (batch) => this.sent.push(batch),
      window: 2,
      maxFrameBytes,
    });
  }

  put(
    name: string,
    phase: 'Ready' | 'Degraded' = 'Ready',
    about: { uid?: string; hubUid?: string; text?: string } = {},
  ): ObjectKey {
    const { uid = `uid-${name}`, hubUid, text = '' } = about;
    const annotations = hubUid === undefined ? {} : { 'redis.atoll.dev/hub-uid': hubUid };
    const key = { namespace: 'shop', name };
    this.objects.set(formatObjectKey(key), {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { ...key, uid, annotations },
      spec: { mode: 'Standalone' },
      status: { phase, currentPrimary: text },
    } as unknown as RedisClusterObject);
    return key;
  }

  change(...put: Parameters<World['put']>): void {
    this.outbox.changed(this.put(...put));
  }

  remove(name: string): void {
    const key = { namespace: 'shop', name };
    this.objects.delete(formatObjectKey(key));
    this.outbox.changed(key);
  }

  /** Acks what is in flight, the proof as told, until nothing more comes. */
  settle(inSync: boolean): void {
    for (let at = 0; at < this.sent.length; at += 1) {
      const { counter, statusDigest } = this.sent[at] as StatusBatch;
      this.outbox.acknowledged(counter, statusDigest !== undefined && inSync);
      vi.advanceTimersByTime(1_100);
    }
  }
}

const describeItem = ({ name, phase, gone }: StatusItem): string => `${name} ${gone ? 'gone' : phase}`;
const told = (batches: readonly StatusBatch[]): string[] => batches.flatMap(({ items }) => items.map(describeItem));

describe('objects that another agent pushed', () => {
  const guestsIn = (batches: readonly StatusBatch[]): unknown[] =>
    batches.flatMap(({ guests = [] }) => guests.map(({ name, numbers }) => [name, numbers]));
  const change = (world: World, name: string, keys: number | undefined): void => {
    world.guests.set(name, keys);
    world.outbox.changed({ namespace: 'shop', name });
    vi.advanceTimersByTime(1_100);
    world.settle(true);
  };

  it('are told with their numbers alone, when these are another word than the last, and taken back', () => {
    const world = new World(['a']);
    world.guests.set('looked-at', undefined);
    world.guests.set('operated', 1);
    vi.advanceTimersByTime(10);
    world.settle(true);
    expect(guestsIn(world.sent)).toEqual([['operated', { keys: 1 }]]);
    change(world, 'operated', 1);
    change(world, 'operated', 2);
    change(world, 'operated', undefined);
    change(world, 'operated', undefined);
    expect(guestsIn(world.sent).slice(1)).toEqual([
      ['operated', { keys: 2 }],
      ['operated', {}],
    ]);
    expect(told(world.sent)).toEqual([]);
  });

  it('are in a full resend, and in no digest', () => {
    const [alone, host] = [new World(['a']), new World(['a'])];
    host.guests.set('operated', 1);
    vi.advanceTimersByTime(10);
    host.settle(false);
    expect(host.sent[0]?.statusDigest).toBe(alone.sent[0]?.statusDigest);
    expect(guestsIn(host.sent)).toContainEqual(['operated', { keys: 1 }]);
    expect(told(host.sent)).toEqual(['a Ready']);
  });
});

describe('a session', () => {
  it('begins with the proof, and tells nothing more to a hub that has it all', () => {
    const world = new World(['a', 'b']);
    vi.advanceTimersByTime(10);
    expect(world.sent).toEqual([
      { counter: 0, items: [], statusDigest: expect.stringMatching(/^[0-9a-f]{32}$/) as string },
    ]);
    world.settle(true);
    expect(world.sent).toHaveLength(1);
    world.change('a', 'Degraded');
    vi.advanceTimersByTime(300);
    expect(told(world.sent)).toEqual(['a Degraded']);
    expect(world.sent[1]?.counter).toBe(1);
  });

  it('proves what it then tells a hub that has something else', () => {
    const world = new World(['a', 'b']);
    vi.advanceTimersByTime(10);
    world.settle(false);
    expect(told(world.sent)).toEqual(['a Ready', 'b Ready']);
    expect(world.sent.at(-1)?.complete).toBe(true);
    const hashes = world.sent.flatMap(({ items }) => items.map(({ hash = '' }) => hash));
    expect(world.sent[0]?.statusDigest).toBe(statusDigestOf(hashes));
  });

  it('tells a hub the end of the resend though there is nothing', () => {
    const world = new World();
    vi.advanceTimersByTime(10);
    expect(world.sent[0]?.statusDigest).toBe(EMPTY_DIGEST);
    world.settle(false);
    expect(world.sent[1]).toEqual({ counter: 1, items: [], complete: true });
  });

  it('proves nothing before the cache is complete', () => {
    const world = new World(['a']);
    world.synced = false;
    vi.advanceTimersByTime(5_000);
    expect(world.sent).toEqual([]);
    world.synced = true;
    vi.advanceTimersByTime(1_100);
    expect(world.sent[0]?.statusDigest).toBe(statusDigestOf([hashOf(world)]));
  });

  it('asked for everything while the proof is on its way sends it once', () => {
    const world = new World(['a']);
    vi.advanceTimersByTime(10);
    world.outbox.resendAll();
    vi.advanceTimersByTime(10);
    world.settle(false);
    expect(told(world.sent)).toEqual(['a Ready']);
  });

  it('tells what its state says of all objects only where it differs', () => {
    const world = new World(['a', 'b']);
    vi.advanceTimersByTime(10);
    world.settle(true);
    world.outbox.recheckAll();
    vi.advanceTimersByTime(10);
    expect(world.sent).toHaveLength(1);
    world.unclaimed = true;
    world.outbox.recheckAll();
    vi.advanceTimersByTime(10);
    expect(world.sent[1]?.items.map(({ name, unclaimed }) => [name, unclaimed])).toEqual([
      ['a', true],
      ['b', true],
    ]);
  });
});

/** The hash of the one object there, as a full resend tells it. */
function hashOf(world: World): string {
  const other = new World();
  for (const [key, object] of world.objects) other.objects.set(key, object);
  other.outbox.resendAll();
  vi.advanceTimersByTime(10);
  return other.sent.flatMap(({ items }) => items.map(({ hash = '' }) => hash)).join();
}

describe('what happens while the proof waits for its answer', () => {
  const states = (batches: readonly StatusBatch[]): string[] => {
    const last = new Map<string, string>();
    for (const item of batches.flatMap(({ items }) => items)) last.set(item.hubUid ?? item.uid, describeItem(item));
    return [...last.values()].sort();
  };

  it.each([true, false])('is told as a change (in sync: %s)', (inSync) => {
    const world = new World(['a', 'b']);
    vi.advanceTimersByTime(10);
    world.change('a', 'Degraded');
    vi.advanceTimersByTime(300);
    expect(told(world.sent)).toEqual(['a Degraded']);
    world.settle(inSync);
    expect(states(world.sent)).toEqual(inSync ? ['a Degraded'] : ['a Degraded', 'b Ready']);
  });

  it.each([true, false])('is told as an end, once (in sync: %s)', (inSync) => {
    const world = new World(['a', 'b']);
    vi.advanceTimersByTime(10);
    world.remove('a');
    vi.advanceTimersByTime(inSync ? 300 : 0);
    world.settle(inSync);
    expect(told(world.sent).filter((one) => one === 'a gone')).toHaveLength(1);
    expect(told(world.sent)).not.toContain('a Ready');
  });

  it.each([true, false])('is told as an end and a beginning when an object was replaced (in sync: %s)', (inSync) => {
    const world = new World(['b']);
    world.put('a', 'Ready', { hubUid: 'h1' });
    vi.advanceTimersByTime(10);
    world.change('a', 'Ready', { uid: 'uid-2' });
    vi.advanceTimersByTime(inSync ? 1_100 : 0);
    world.settle(inSync);
    const ends = world.sent.flatMap(({ items }) => items).filter(({ gone }) => gone);
    expect(ends.map(({ hubUid }) => hubUid)).toEqual(['h1']);
    expect(states(world.sent)).toEqual(inSync ? ['a Ready', 'a gone'] : ['a Ready', 'a gone', 'b Ready']);
  });

  it('of an object that came and went again is nothing', () => {
    const world = new World(['a']);
    vi.advanceTimersByTime(10);
    world.change('c', 'Ready');
    world.remove('c');
    world.settle(true);
    expect(told(world.sent)).toEqual([]);
  });
});

describe('backpressure', () => {
  const told5000 = (): World =>
    new World(
      Array.from({ length: 5_000 }, (_, at) => `r${at}`),
      128 * 1024,
    );

  it('keeps to the window and holds no items while the hub does not answer', () => {
    const world = told5000();
    vi.advanceTimersByTime(10);
    world.outbox.acknowledged(0);
    vi.advanceTimersByTime(60_000);
    expect(world.sent).toHaveLength(3);
    const sentItems = told(world.sent).length;
    expect(sentItems).toBeLessThan(1_000);
    expect(world.outbox.size).toBeGreaterThanOrEqual(5_000 - sentItems);
    for (const batch of world.sent) expect(JSON.stringify(batch).length).toBeLessThan(128 * 1024);
    // What is told later is what is true then.
    world.put('r4999', 'Degraded');
    world.settle(false);
    expect(told(world.sent)).toHaveLength(5_000);
    expect(told(world.sent).at(-1)).toBe('r4999 Degraded');
    expect(world.sent.filter(({ complete }) => complete)).toHaveLength(1);
    expect(world.outbox.size).toBe(0);
  });

  it('coalesces at 1 s, phase changes at 250 ms, however fast the hub answers', () => {
    const world = new World(['a']);
    vi.advanceTimersByTime(10);
    world.settle(true);
    const before = world.sent.length;
    for (let step = 0; step < 40; step += 1) {
      world.change('a', 'Ready', { text: `p${step}` });
      vi.advanceTimersByTime(100);
      world.outbox.acknowledged(world.sent.at(-1)?.counter ?? 0);
    }
    expect(world.sent.length - before).toBeLessThanOrEqual(4);
    const phases = world.sent.length;
    for (let step = 0; step < 10; step += 1) {
      world.change('a', step % 2 === 0 ? 'Degraded' : 'Ready');
      vi.advanceTimersByTime(100);
      world.outbox.acknowledged(world.sent.at(-1)?.counter ?? 0);
    }
    expect(world.sent.length - phases).toBeGreaterThanOrEqual(2);
    expect(world.sent.length - phases).toBeLessThanOrEqual(4);
  });

  it('rests when the hub asks for less', () => {
    const world = new World(['a']);
    vi.advanceTimersByTime(10);
    world.outbox.pause(5_000);
    world.outbox.acknowledged(0);
    vi.advanceTimersByTime(4_900);
    expect(world.sent).toHaveLength(1);
    vi.advanceTimersByTime(200);
    expect(told(world.sent)).toEqual(['a Ready']);
  });
});
