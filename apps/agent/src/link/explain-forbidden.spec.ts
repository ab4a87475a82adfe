import { agentLimits } from '#testing';
import { describe, expect, it } from 'vitest';
import { explainForbiddenNamespace, explainForbiddenSpec, explainProtectedNamespace } from './explain-forbidden.ts';
import type { Bounds } from './explain-forbidden.ts';

const bounds = (limits: Parameters<typeof agentLimits>[0] = {}): Bounds => ({
  scope: { kind: 'CLUSTER' },
  namespace: 'atoll-system',
  limits: agentLimits(limits),
});
const allows = (image: string, ...imageRegistries: string[]): boolean =>
  explainForbiddenSpec(bounds({ imageRegistries }), { engine: { image } }) === undefined;

describe('the bounds of the agent', () => {
  it('allow every namespace of the scope unless some are named', () => {
    expect(explainForbiddenNamespace(bounds(), 'shop')).toBeUndefined();
    expect(explainForbiddenNamespace(bounds({ namespaces: ['shop'] }), 'shop')).toBeUndefined();
    expect(explainForbiddenNamespace(bounds({ namespaces: ['shop'] }), 'shop2')).toMatch(/shop2/);
    const own: Bounds = { ...bounds(), scope: { kind: 'NAMESPACE', namespace: 'mine' } };
    expect(explainForbiddenNamespace(own, 'shop')).toMatch(/does not serve/);
  });

  it.each([
    ['kube-system', /belong to Kubernetes/],
    ['kube-public', /belong to Kubernetes/],
    ['kube-of-a-vendor', /belong to Kubernetes/],
    ['atoll-system', /this agent runs there/],
    ['istio-system', /limits.protectedNamespaces/],
    ['vault', /limits.protectedNamespaces/],
    ['vault-apps', undefined],
    ['kubernetes-guild', undefined],
    ['shop', undefined],
  ])('protect %s whatever the other limits say: %s', (namespace, because) => {
    const limits = { protectedNamespaces: ['istio-*', 'vault'], namespaces: [namespace] };
    const sentence = explainProtectedNamespace(bounds(limits), namespace);
    if (because === undefined) expect(sentence).toBeUndefined();
    else expect(sentence).toMatch(because);
  });

  it('leave an agent of scope NAMESPACE its own namespace, where its RedisClusters live, but not one of Kubernetes', () => {
    const narrow = (namespace: string): Bounds => ({ ...bounds(), namespace, scope: { kind: 'NAMESPACE', namespace } });
    expect(explainProtectedNamespace(narrow('team-a'), 'team-a')).toBeUndefined();
    expect(explainProtectedNamespace(narrow('kube-system'), 'kube-system')).toMatch(/belong to Kubernetes/);
  });

  it('compare whole parts of an image reference', () => {
    expect(allows('registry.example.com/redis:8', 'registry.example.com')).toBe(true);
    expect(allows('registry.example.com.evil.org/redis:8', 'registry.example.com')).toBe(false);
    expect(allows('registry.example.com/team/redis:8', 'registry.example.com/team/')).toBe(true);
    expect(allows('registry.example.com/teamx/redis:8', 'registry.example.com/team')).toBe(false);
    expect(allows('localhost:5000/redis', 'localhost:5000')).toBe(true);
    expect(allows('localhost:5000/redis', 'localhost')).toBe(false);
  });

  it.each([
    ['docker.io/library/redis', true],
    ['redis:8.0', true],
    ['redis@sha256:' + 'a'.repeat(64), true],
    ['redis-of-somebody:8.0', false],
    ['docker.io/library/redis/evil:1', true],
    ['docker.io/somebody/redis:8.0', false],
  ])('know one repository with any tag or digest: %s %s', (image, isAllowed) => {
    expect(allows(image, 'docker.io/library/redis')).toBe(isAllowed);
  });

  it('know that a short image comes from docker.io', () => {
    expect(allows('redis:8', 'docker.io/library')).toBe(true);
    expect(allows('valkey/valkey:8.1', 'docker.io/valkey')).toBe(true);
    expect(allows('redis:8', 'registry.example.com')).toBe(false);
    expect(allows('evil.example/redis:8', '*')).toBe(true);
  });

  it('leave alone a spec without an image of its own', () => {
    const limits = { imageRegistries: ['registry.example.com'] };
    expect(explainForbiddenSpec(bounds(limits), { engine: { type: 'Redis' } })).toBeUndefined();
  });

  it.each([
    ['gold', undefined],
    ['silver', /limits.priorityClasses/],
    ['system-cluster-critical', /own components/],
    ['system-mine', /own components/],
  ])('let a spec name the PriorityClass %s: %s', (priorityClassName, because) => {
    const limits = { priorityClasses: ['gold', 'system-mine'] };
    const sentence = explainForbiddenSpec(bounds(limits), { scheduling: { priorityClassName } });
    if (because === undefined) expect(sentence).toBeUndefined();
    else expect(sentence).toMatch(because);
  });
});
