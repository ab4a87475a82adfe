import { ANNOTATION } from '#domain';
import type { KubeObject } from '#domain';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CopyBook } from './copy-book.ts';
import { readHubVersion } from './hub-version.ts';
import { leaveOutCopies } from './leave-out-copies.ts';

const object = (name: string, hubUid: string | undefined, age: number): KubeObject => ({
  apiVersion: 'redis.atoll.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: {
    namespace: 'shop',
    name,
    creationTimestamp: `2026-01-0${age}T00:00:00Z`,
    ...(hubUid === undefined ? {} : { annotations: { [ANNOTATION.hubUid]: hubUid } }),
  },
});
const change = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  hubUid: fc.constantFrom('u1', 'u2', undefined),
  age: fc.integer({ min: 1, max: 9 }),
  gone: fc.boolean(),
});

it('says after any changes what a look through all objects would say', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const objects = new Map<string, KubeObject>();
      const book = new CopyBook();
      for (const { name, hubUid, age, gone } of changes) {
        if (gone) objects.delete(name);
        else objects.set(name, object(name, hubUid, age));
        book.changed(name, objects.get(name));
        const meant = leaveOutCopies(objects.values());
        for (const uid of ['u1', 'u2']) {
          const expected = meant.find((each) => readHubVersion(each)?.hubUid === uid)?.metadata.name;
          expect(book.nameOf(uid, () => objects)).toBe(expected);
        }
      }
    }),
  );
});
