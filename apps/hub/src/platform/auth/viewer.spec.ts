import { describe, expect, it } from 'vitest';
import { hasFleetRole, hasRole, mayRead, visibleProjects, type RoleBinding, type Viewer } from './viewer.ts';

const viewer = (...bindings: RoleBinding[]): Viewer => ({ principalId: 'p', name: 'n', kind: 'USER', bindings });

describe('who may do what', () => {
  it('a fleet-wide binding sees everything', () => {
    expect(visibleProjects(viewer({ role: 'VIEWER', projectId: null }))).toBe('ALL');
  });
  it('a binding of one project sees that project only', () => {
    const ana = viewer({ role: 'ADMIN', projectId: 'a' });
    expect(visibleProjects(ana)).toEqual(['a']);
    expect(mayRead(ana, 'b')).toBe(false);
    expect(hasFleetRole(ana, 'VIEWER')).toBe(false);
  });
  it('no binding sees nothing', () => {
    expect(visibleProjects(viewer())).toEqual([]);
  });
  it.each([
    ['VIEWER', 'OPERATOR', false],
    ['OPERATOR', 'OPERATOR', true],
    ['ADMIN', 'OPERATOR', true],
    ['OPERATOR', 'ADMIN', false],
  ] as const)('%s counts as %s: %s', (held, wanted, expected) => {
    expect(hasRole(viewer({ role: held, projectId: 'a' }), wanted, 'a')).toBe(expected);
    expect(hasFleetRole(viewer({ role: held, projectId: null }), wanted)).toBe(expected);
  });
});
