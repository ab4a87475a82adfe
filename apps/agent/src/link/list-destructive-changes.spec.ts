import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listDestructiveChanges } from './list-destructive-changes.ts';

const engine = { type: 'Redis', version: '8.0' };
const volume = { type: 'PersistentVolume', size: '2Gi' };
const cart = {
  engine,
  mode: 'Sentinel',
  size: 3,
  storage: volume,
  resources: { limits: { memory: '1Gi' } },
  auth: { users: [{ name: 'reader', rules: '~* +@read' }] },
};
const list = (change: object, before: object = cart): readonly string[] =>
  listDestructiveChanges(before, { ...before, ...change });

describe('a change that can lose data or stop Redis', () => {
  it.each<[string, object, RegExp, object?]>([
    ['persistence off', { persistence: { enabled: false } }, /persistence is switched off/],
    ['a weaker fsync', { persistence: { aof: { fsync: 'no' } } }, /fsync everysec → no/],
    ['a weaker fsync by directive', { config: { appendfsync: 'no' } }, /fsync/],
    ['a smaller size', { size: 1 }, /size 3 → 1/],
    ['a mode with fewer pods', { mode: 'Standalone', size: undefined }, /size 3 → 1/],
    ['fewer replicas for a write', { failover: { minReplicasToWrite: 0 } }, /minReplicasToWrite 1 → 0/],
    ['a lower quorum', { sentinel: { replicas: 3, quorum: 1 } }, /quorum 2 → 1/],
    ['fewer databases', { config: { databases: '1' } }, /databases 16 → 1/],
    ['hibernation', { hibernation: true }, /hibernation/],
    ['fencing', { fencing: { enabled: true } }, /fencing/],
    ['suspend', { suspend: true }, /suspend/],
    ['loss that is allowed', { failover: { dataLossPolicy: 'Allow' } }, /dataLossPolicy Refuse → Allow/],
    ['no failover by the agent', { failover: { mode: 'Manual' } }, /failover mode/],
    ['deletion of volumes', { deletionPolicy: 'Delete' }, /deletionPolicy RetainVolumes → Delete/],
    [
      'deletion at all',
      { deletionPolicy: 'RetainVolumes' },
      /Deny → RetainVolumes/,
      { ...cart, deletionPolicy: 'Deny' },
    ],
    ['storage that does not last', { storage: { type: 'Ephemeral' } }, /storage.*|persistence/],
    ['another class of storage', { storage: { ...volume, storageClassName: 'slow' } }, /storage/],
    ['smaller storage', { storage: { ...volume, size: '1Gi' } }, /storage/],
    ['maxmemory far down', { memory: { maxmemory: '64mb' } }, /half of the memory/],
    ['a memory limit far down', { resources: { limits: { memory: '256Mi' } } }, /half of the memory/],
    ['a policy that evicts', { memory: { policy: 'allkeys-lru' } }, /maxmemory-policy noeviction → allkeys-lru/],
    ['an image from elsewhere', { engine: { ...engine, image: 'evil.example/redis:8.0' } }, /engine Redis →/],
    ['another engine', { engine: { type: 'Valkey', version: '8.1' } }, /engine Redis → Valkey/],
    ['a user who goes', { auth: {} }, /users removed or changed: reader/],
    ['a user with other rules', { auth: { users: [{ name: 'reader', rules: '-@all' }] } }, /reader/],
    ['another password', { auth: { ...cart.auth, secretRef: { name: 'mine' } } }, /another password/],
  ])('%s', (_, change, words, before) => {
    expect(list(change, before).join('; ')).toMatch(words);
  });

  it.each<[string, object, object?]>([
    ['nothing at all', {}],
    ['a larger size', { size: 5 }],
    ['a newer version', { engine: { ...engine, version: '8.2' } }],
    [
      'another tag of the same image',
      { engine: { ...engine, image: 'r.example:5000/redis:8.2' } },
      { ...cart, engine: { ...engine, image: 'r.example:5000/redis:8.0' } },
    ],
    ['a default that is written', { deletionPolicy: 'RetainVolumes', persistence: { enabled: true } }],
    ['larger storage', { storage: { ...volume, size: '4Gi' } }],
    ['a little less memory', { resources: { limits: { memory: '768Mi' } } }],
    ['one more user', { auth: { users: [...cart.auth.users, { name: 'writer', rules: '~* +@write' }] } }],
    ['the way back out of hibernation', { hibernation: false }, { ...cart, hibernation: true }],
    ['a stricter policy', { deletionPolicy: 'Deny' }],
  ])('is not %s', (_, change, before) => {
    expect(list(change, before)).toEqual([]);
  });

  it('is found beside fields of a wrong kind, and nothing that a hub sends makes it throw', () => {
    const wrong = { config: 'x', storage: null, sentinel: 7, memory: [], auth: { users: 'everybody' } };
    expect(list({ ...wrong, hibernation: true }).join()).toContain('hibernation');
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(cart), 'config', 'memory'), fc.jsonValue()), (after) => {
        expect(Array.isArray(listDestructiveChanges(cart, after))).toBe(true);
      }),
    );
  });
});
