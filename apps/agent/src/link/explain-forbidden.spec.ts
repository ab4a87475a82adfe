import { describe, expect, it } from 'vitest';
import { explainForbiddenNamespace, explainForbiddenSpec } from './explain-forbidden.ts';
import type { Bounds } from './explain-forbidden.ts';

const bounds = (namespaces: string[], imageRegistries: string[]): Bounds => ({
  scope: { kind: 'CLUSTER' },
  limits: { namespaces, imageRegistries, acceptDeletes: true, maxDeletes: 3 },
});
const allows = (image: string, ...registries: string[]): boolean =>
  explainForbiddenSpec(bounds([], registries), { engine: { image } }) === undefined;

describe('the bounds of the agent', () => {
  it('allow every namespace of the scope unless some are named', () => {
    expect(explainForbiddenNamespace(bounds([], []), 'shop')).toBeUndefined();
    expect(explainForbiddenNamespace(bounds(['shop'], []), 'shop')).toBeUndefined();
    expect(explainForbiddenNamespace(bounds(['shop'], []), 'shop2')).toMatch(/shop2/);
    const own: Bounds = { ...bounds([], []), scope: { kind: 'NAMESPACE', namespace: 'mine' } };
    expect(explainForbiddenNamespace(own, 'shop')).toMatch(/does not serve/);
  });

  it('compare whole parts of an image reference', () => {
    expect(allows('registry.example.com/redis:8', 'registry.example.com')).toBe(true);
    expect(allows('registry.example.com.evil.org/redis:8', 'registry.example.com')).toBe(false);
    expect(allows('registry.example.com/team/redis:8', 'registry.example.com/team/')).toBe(true);
    expect(allows('registry.example.com/teamx/redis:8', 'registry.example.com/team')).toBe(false);
    expect(allows('localhost:5000/redis', 'localhost:5000')).toBe(true);
  });

  it('know that a short image comes from docker.io', () => {
    expect(allows('redis:8', 'docker.io/library')).toBe(true);
    expect(allows('valkey/valkey:8.1', 'docker.io/valkey')).toBe(true);
    expect(allows('redis:8', 'registry.example.com')).toBe(false);
  });

  it('leave alone a spec without an image of its own', () => {
    expect(explainForbiddenSpec(bounds([], ['registry.example.com']), { engine: { type: 'Redis' } })).toBeUndefined();
  });
});
