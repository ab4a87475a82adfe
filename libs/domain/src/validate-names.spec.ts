import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INHERITED_NAMES, ownValue, setOwnValue } from './own-value.ts';
import type { RedisClusterSpec } from './redis-cluster-spec.ts';
import { validateSpec } from './validate-spec.ts';

const base = { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' } as const;
/** A map with this one own name, as JSON.parse makes it. */
const mapOf = (name: string): Record<string, string> => JSON.parse(`{"${name}":"1"}`) as Record<string, string>;

const PLACES: readonly (readonly [path: string, make: (map: Record<string, string>) => object])[] = [
  ['spec', (map) => map],
  ['spec.config', (config) => ({ config })],
  ['spec.resources.limits', (limits) => ({ resources: { limits } })],
  ['spec.resources.requests', (requests) => ({ resources: { requests } })],
  ['spec.sentinel.resources.limits', (limits) => ({ sentinel: { resources: { limits } } })],
  ['spec.scheduling.nodeSelector', (nodeSelector) => ({ scheduling: { nodeSelector } })],
];

describe('names that every object inherits', () => {
  it('are all that an object literal has before anybody sets a name', () => {
    expect([...INHERITED_NAMES].sort()).toEqual(Object.getOwnPropertyNames(Object.prototype).sort());
  });

  it('are refused in every map of a spec, each under its path', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PLACES), fc.constantFrom(...INHERITED_NAMES), ([path, make], name) => {
        const spec = { ...base, ...make(mapOf(name)) } as unknown as RedisClusterSpec;
        const found = validateSpec(spec).find(({ code }) => code === 'INVALID_NAME');
        expect(found?.path.join('.')).toBe(`${path}.${name}`);
        expect(found?.message).toContain(name);
      }),
    );
  });

  it('are refused as names of users', () => {
    const auth = { users: [{ name: 'constructor', rules: '+@read ~*' }] };
    expect(validateSpec({ ...base, auth })).toMatchObject([{ code: 'INVALID_USER' }]);
  });

  it('are set and found only by those who ask for what is set', () => {
    fc.assert(
      fc.property(fc.constantFrom(...INHERITED_NAMES), fc.string(), (name, value) => {
        const record: Record<string, string> = {};
        expect(ownValue(record, name)).toBeUndefined();
        setOwnValue(record, name, value);
        expect(ownValue(record, name)).toBe(value);
        expect(Object.keys(record)).toEqual([name]);
        expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
      }),
    );
  });
});
