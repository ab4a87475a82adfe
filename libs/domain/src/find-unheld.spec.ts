import { describe, expect, it } from 'vitest';
import { findUnheld, type KnownFields } from './find-unheld.ts';
import { KNOWN_CRD_SCHEMAS } from './known-crd-schemas.ts';

const known: KnownFields = {
  mode: ['Standalone', 'Sentinel'],
  config: 1,
  storage: { size: 1 },
  users: { '[]': { name: 1, role: ['reader'] } },
  labels: { '*': { on: 1 } },
};

describe('what a definition cannot hold', () => {
  it.each<[string, object, readonly string[]]>([
    ['nothing, when every field is known', { mode: 'Sentinel', config: { a: { b: 1 } }, storage: { size: '1Gi' } }, []],
    ['a field', { rollout: { paused: true } }, ['spec.rollout']],
    ['a field of a field', { storage: { size: '1Gi', class: 'x' } }, ['spec.storage.class']],
    ['a word of an enumeration', { mode: 'Cluster' }, ['spec.mode: Cluster']],
    ['a field of items, once', { users: [{ name: 'a', rules: 1 }, { rules: 2 }] }, ['spec.users[].rules']],
    ['a field under any key of a map', { labels: { x: { on: true, off: 1 } } }, ['spec.labels.x.off']],
    ['a name that every object has', { constructor: 1 }, ['spec.constructor']],
    ['nothing of what is null', { mode: null, storage: null }, []],
  ])('%s', (_, spec, expected) => {
    expect(findUnheld(spec, known)).toEqual(expected);
  });

  it('is known of the definition of release 0.1.0, as an agent of it tells its hash', () => {
    const schema = KNOWN_CRD_SCHEMAS['f7832b393759c6521f7312178b3c7f4872c4d9c0b5172aeb6f26abccacde1455'];
    expect(schema?.release).toBe('0.1.0');
    const spec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size: 3, config: { maxmemory: 1 } };
    expect(findUnheld(spec, schema?.spec ?? 1)).toEqual([]);
    const later = { ...spec, deletionPolicy: 'Snapshot', suspend: true, auth: { enabled: true } };
    expect(findUnheld(later, schema?.spec ?? 1)).toEqual([
      'spec.deletionPolicy: Snapshot',
      'spec.suspend',
      'spec.auth',
    ]);
  });
});
