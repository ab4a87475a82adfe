import { ANNOTATION } from '#domain';
import type { KubeObject } from '#domain';
import type { Upsert } from '#protocol';
import { buildUpsert } from '#testing';
import { describe, expect, it } from 'vitest';
import { MassChanges } from './mass-changes.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const live = (name: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { namespace: 'shop', name, uid: `k-${name}`, annotations },
  spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size: 3 },
});
const pushed = (name: string, generation = 1): KubeObject =>
  live(name, { [ANNOTATION.hubUid]: name, [ANNOTATION.hubGeneration]: String(generation) });
const shrink = (changes: Partial<Upsert> = {}): Upsert[] =>
  NAMES.map((name) => buildUpsert(name, 2, { size: 1, ...changes }));
const note = (upserts: readonly Upsert[], find: (name: string) => KubeObject | undefined): readonly string[] => {
  const mass = new MassChanges();
  const found = mass.note(upserts, 3, ({ name }) => find(name));
  expect(upserts.filter(({ hubUid }) => mass.has(hubUid))).toHaveLength(found.length);
  return found.map(({ upsert }) => upsert.hubUid);
};

describe('destructive changes of one message', () => {
  it('are a mass when they are more than the limit', () => {
    expect(note(shrink(), pushed)).toEqual(NAMES);
    expect(note(shrink({ adopt: true }), live)).toEqual(NAMES);
  });

  it.each<[string, readonly Upsert[], (name: string) => KubeObject | undefined]>([
    ['as many as the limit', shrink().slice(0, 3), pushed],
    ['ordinary changes', shrink().map(({ hubUid }) => buildUpsert(hubUid, 2, { size: 5 })), pushed],
    ['objects that are not here', shrink(), () => undefined],
    ['objects that the hub did not make and does not adopt', shrink(), live],
    ['generations that are here already', shrink(), (name) => pushed(name, 3)],
    ['texts that are no spec', shrink({ spec: 'x' }), pushed],
  ])('are none of %s', (_, upserts, find) => {
    expect(note(upserts, find)).toEqual([]);
  });

  it('leave out what a person let through', () => {
    const [first] = shrink();
    const annotations = { ...pushed('a').metadata.annotations, [ANNOTATION.letThrough]: first?.specHash ?? '' };
    expect(note(shrink(), (name) => (name === 'a' ? live('a', annotations) : pushed(name)))).toEqual([]);
  });

  it('forget the message before', () => {
    const mass = new MassChanges();
    mass.note(shrink(), 3, ({ name }) => pushed(name));
    mass.note(shrink().slice(0, 1), 3, ({ name }) => pushed(name));
    expect(mass.has('b')).toBe(false);
  });
});
