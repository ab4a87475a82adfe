import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldOwners } from './field-owner.ts';

const entry = (manager: string, fieldsV1: unknown, more: object = {}) => ({
  manager,
  operation: 'Apply',
  fieldsV1,
  ...more,
});

describe('who owns a field', () => {
  it('tells leaves with their managers, and leaves out what lies elsewhere', () => {
    const managedFields = [
      entry('atoll-hub', {
        'f:metadata': { 'f:annotations': { 'f:redis.atoll.dev/hub-uid': {} } },
        'f:spec': { 'f:mode': {} },
      }),
      entry(
        'kubectl-edit',
        { 'f:spec': { 'f:size': {}, 'f:config': { 'f:maxmemory-policy': {} } } },
        { operation: 'Update' },
      ),
      entry('atoll-agent', { 'f:status': { 'f:phase': {} } }, { subresource: 'status' }),
    ];
    expect(fieldOwners(managedFields, 'spec')).toEqual([
      { path: 'spec.mode', manager: 'atoll-hub', operation: 'Apply' },
      { path: 'spec.size', manager: 'kubectl-edit', operation: 'Update' },
      { path: 'spec.config.maxmemory-policy', manager: 'kubectl-edit', operation: 'Update' },
    ]);
    expect(fieldOwners(managedFields, 'status')).toEqual([
      { path: 'status.phase', manager: 'atoll-agent', operation: 'Apply', subresource: 'status' },
    ]);
  });

  it('writes list items by key, values of sets and indexes as Kubernetes does', () => {
    const fields = {
      'f:spec': {
        'f:users': { 'k:{"name":"app"}': { '.': {}, 'f:acl': {} }, 'k:{"port":6379,"name":"x"}': { '.': {} } },
        'f:tags': { 'v:"blue"': {} },
        'f:args': { 'i:0': {} },
      },
    };
    expect(fieldOwners([entry('m', fields)], 'spec').map(({ path }) => path)).toEqual([
      'spec.users[name="app"].acl',
      'spec.users[name="x",port=6379]',
      'spec.tags[="blue"]',
      'spec.args[0]',
    ]);
  });

  it('takes a prefix as whole steps', () => {
    expect(fieldOwners([entry('m', { 'f:specs': { 'f:a': {} } })], 'spec')).toEqual([]);
  });

  it('tells a map that is owned as a whole', () => {
    expect(fieldOwners([entry('m', { 'f:spec': { 'f:config': { '.': {} } } })], 'spec')[0]?.path).toBe('spec.config');
  });

  it('has nothing to tell of an object without managed fields', () => {
    expect(fieldOwners(undefined, 'spec')).toEqual([]);
    expect(fieldOwners([{}], 'spec')).toEqual([]);
  });

  it('tells exactly one owner per leaf, for any tree', () => {
    const { tree } = fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
      tree: fc.dictionary(fc.stringMatching(/^f:[a-z]{1,4}$/), fc.oneof(fc.constant({}), tie('tree')), { maxKeys: 4 }),
    }));
    const countLeaves = (node: object): number =>
      Object.values(node).reduce<number>(
        (sum, child: object) => sum + (Object.keys(child).length === 0 ? 1 : countLeaves(child)),
        0,
      );
    fc.assert(
      fc.property(tree, (fields) => {
        const paths = fieldOwners([entry('m', fields)], '').map(({ path }) => path);
        expect(paths).toHaveLength(countLeaves(fields));
        expect(new Set(paths).size).toBe(paths.length);
      }),
    );
  });
});
