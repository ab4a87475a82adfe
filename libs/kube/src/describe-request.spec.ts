import { describe, expect, it } from 'vitest';
import { describeRequest } from './describe-request.ts';

describe('a request in the words of RBAC', () => {
  it.each([
    ['GET', '/api/v1/namespaces/shop/pods?watch=true&resourceVersion=1', 'watch pods'],
    ['GET', '/api/v1/pods?limit=500', 'list pods'],
    ['GET', '/api/v1/namespaces/shop/secrets/a', 'get secrets'],
    ['GET', '/api/v1/namespaces/kube-system', 'get namespaces'],
    ['POST', '/api/v1/namespaces', 'create namespaces'],
    ['POST', '/api/v1/namespaces/shop/pods/a/eviction', 'create pods/eviction'],
    [
      'PATCH',
      '/apis/redis.atoll.dev/v1alpha1/namespaces/shop/redisclusters/a/status?force=true',
      'patch redisclusters/status',
    ],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/shop/leases/a', 'update leases'],
    ['DELETE', '/apis/apps/v1/namespaces/shop/statefulsets/a', 'delete statefulsets'],
    ['GET', '/version', 'get other'],
  ])('%s %s is %s', (method, path, expected) => {
    const { verb, resource } = describeRequest(method, path);
    expect(`${verb} ${resource}`).toBe(expected);
  });
});
