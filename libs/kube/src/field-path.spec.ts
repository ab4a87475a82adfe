import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldOwners } from './field-owner.ts';
import { valueAtPath, withValuesAt, withoutPaths } from './field-path.ts';

const object = {
  spec: {
    size: 3,
    config: { 'maxmemory-policy': 'noeviction', 'a.b': '1', a: { b: '2' } },
    users: [
      { name: 'app', acl: '~*' },
      { name: 'ops', acl: '+@all', port: 1 },
    ],
    tags: ['blue', 'green', 'red'],
  },
};

describe('a field by its path', () => {
  it.each([
    ['spec.size', 3],
    ['spec.config.maxmemory-policy', 'noeviction'],
    ['spec.config.a.b', '1'],
    ['spec.users[name="ops"].acl', '+@all'],
    ['spec.users[name="ops",port=1].acl', '+@all'],
    ['spec.tags[="green"]', 'green'],
    ['spec.tags[2]', 'red'],
    ['spec.nothing', undefined],
    ['spec.siz', undefined],
    ['spec.users[name="none"].acl', undefined],
  ])('%s', (path, value) => {
    expect(valueAtPath(object, path)).toEqual(value);
  });

  it('is taken out without touching the original, empty maps with it, list items by their old places', () => {
    const paths = ['spec.size', 'spec.tags[="blue"]', 'spec.tags[="red"]', 'spec.users[name="app"]', 'spec.gone'];
    const rest = withoutPaths({ ...object, only: { child: 1 } }, [...paths, 'only.child']);
    expect(rest).toEqual({
      spec: { config: object.spec.config, users: [object.spec.users[1]], tags: ['green'] },
    });
    expect(object.spec.tags).toHaveLength(3);
  });

  it('are taken over from another object, save those in lists and those that it lacks', () => {
    const source = { spec: { size: 5, config: { 'a.b': '1' }, users: [{ name: 'x' }] } };
    const paths = ['spec.size', 'spec.config.a.b', 'spec.users[name="x"].name', 'spec.nowhere'];
    const object = { spec: { size: 3, mode: 'Sentinel' } };
    expect(withValuesAt(object, source, paths)).toEqual({
      spec: { size: 5, mode: 'Sentinel', config: { 'a.b': '1' } },
    });
    expect(object.spec.size).toBe(3);
    const odd = JSON.parse('{"spec":{"config":{"__proto__":"1"}}}') as object;
    const copy = withValuesAt({ spec: {} }, odd, ['spec.config.__proto__']);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(odd));
  });

  it('every path of the managed fields of an object leads to its value', () => {
    const name = fc.stringMatching(/^[a-z][a-z.-]{0,5}$/);
    const spec = fc.dictionary(name, fc.oneof(fc.nat(9), fc.dictionary(name, fc.nat(9), { minKeys: 1 })), {
      minKeys: 1,
    });
    const fieldsOf = (value: unknown): object =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, child]) => [`f:${key}`, fieldsOf(child)]))
        : {};
    const pathsIn = (value: unknown, prefix: string): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, child]) => [`${prefix}.${key}`, ...pathsIn(child, `${prefix}.${key}`)])
        : [];
    fc.assert(
      fc.property(spec, (fields) => {
        const paths = pathsIn(fields, 'spec');
        // `a.b` may be a field's name, or b under a: Kubernetes writes both alike, and then nobody can tell.
        fc.pre(new Set(paths).size === paths.length);
        for (const { path } of fieldOwners([{ manager: 'm', fieldsV1: fieldsOf({ spec: fields }) }], 'spec')) {
          expect(typeof valueAtPath({ spec: fields }, path)).toBe('number');
        }
      }),
    );
  });
});
