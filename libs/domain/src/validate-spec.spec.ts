import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from './redis-cluster-spec.ts';
import type { SpecProblemCode } from './spec-problem.ts';
import { validateNewSpec, validateSpec } from './validate-spec.ts';

const base: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' };
const engineOf = (image: string): Partial<RedisClusterSpec> => ({ engine: { ...base.engine, image } });
const limit = (memory: string) => ({ limits: { memory } });

describe('validateSpec', () => {
  it.each<[string, Partial<RedisClusterSpec>]>([
    ['the smallest spec', {}],
    ['a patch version', { engine: { type: 'Redis', version: '7.0.15' } }],
    ['Valkey', { engine: { type: 'Valkey', version: '9.1' } }],
    ['a Standalone of one', { mode: 'Standalone', size: 1 }],
    ['a Replication of one', { mode: 'Replication', size: 1 }],
    ['five Sentinels with their own quorum', { sentinel: { replicas: 5, quorum: 5, downAfter: '500ms' } }],
    ['configuration of several words', { config: { save: '900 1 300 10', 'maxmemory-policy': 'allkeys-lru' } }],
    ['maxmemory within the limit', { resources: limit('1Gi'), config: { maxmemory: '1gb' } }],
    ['an image of a registry', engineOf('registry.example:5000/team/my__redis-x:8.0-alpine')],
    ['an image by digest', engineOf(`redis@sha256:${'a1'.repeat(32)}`)],
    ['an image of a host by address', engineOf('[::1]:5000/redis')],
    ['a request at its limit', { resources: { requests: { cpu: '0.1' }, limits: { cpu: '100m' } } }],
    [
      'every resource of a container',
      { resources: { limits: { 'hugepages-2Mi': '4Mi', 'ephemeral-storage': '1Gi' } } },
    ],
    ['an extended resource', { resources: { limits: { 'example.com/disk': '1' } } }],
    ['a class', { storage: { type: 'PersistentVolume', size: '1Gi', storageClassName: 'fast.ssd-1' } }],
    ['a volume', { storage: { type: 'PersistentVolume', size: '1.5Gi' } }],
  ])('takes %s', (_, part) => {
    expect(validateSpec({ ...base, ...part })).toEqual([]);
  });

  it.each<[string, Partial<RedisClusterSpec>, string, SpecProblemCode]>([
    [
      'an engine line nobody tried',
      { engine: { type: 'Redis', version: '6.2' } },
      'engine.version',
      'UNSUPPORTED_VERSION',
    ],
    [
      'a line of the other engine',
      { engine: { type: 'Valkey', version: '8.6' } },
      'engine.version',
      'UNSUPPORTED_VERSION',
    ],
    [
      'a version that is a word',
      { engine: { type: 'Redis', version: 'latest' } },
      'engine.version',
      'UNSUPPORTED_VERSION',
    ],
    ['a Standalone of three', { mode: 'Standalone', size: 3 }, 'size', 'INVALID_SIZE'],
    ['a Sentinel set of one', { size: 1 }, 'size', 'INVALID_SIZE'],
    ['half a pod', { size: 2.5 }, 'size', 'INVALID_SIZE'],
    ['too many pods', { size: 16 }, 'size', 'INVALID_SIZE'],
    ['Sentinels without Sentinel mode', { mode: 'Replication', sentinel: {} }, 'sentinel', 'INVALID_SENTINEL'],
    ['four Sentinels', { sentinel: { replicas: 4 } }, 'sentinel.replicas', 'INVALID_SENTINEL'],
    ['one Sentinel', { sentinel: { replicas: 1 } }, 'sentinel.replicas', 'INVALID_SENTINEL'],
    ['a quorum of more than there are', { sentinel: { quorum: 4 } }, 'sentinel.quorum', 'INVALID_SENTINEL'],
    ['a duration without a unit', { sentinel: { downAfter: '5' } }, 'sentinel.downAfter', 'INVALID_DURATION'],
    ['no time at all', { sentinel: { failoverTimeout: '0s' } }, 'sentinel.failoverTimeout', 'INVALID_DURATION'],
    ['a port', { config: { port: '1' } }, 'config.port', 'OPERATOR_OWNED_CONFIG'],
    ['a port in capitals', { config: { PORT: '1' } }, 'config.PORT', 'OPERATOR_OWNED_CONFIG'],
    ['TLS by hand', { config: { 'tls-port': '1' } }, 'config.tls-port', 'OPERATOR_OWNED_CONFIG'],
    ['a second line', { config: { hz: '10\nport 1' } }, 'config.hz', 'INVALID_CONFIG'],
    ['a quote', { config: { hz: '"' } }, 'config.hz', 'INVALID_CONFIG'],
    ['Kubernetes units for Redis', { config: { maxmemory: '100Mi' } }, 'config.maxmemory', 'INVALID_CONFIG'],
    [
      'maxmemory above the limit',
      { resources: limit('1Gi'), config: { maxmemory: '2gb' } },
      'config.maxmemory',
      'MAXMEMORY_ABOVE_LIMIT',
    ],
    [
      'unlimited memory under a limit',
      { resources: limit('1Gi'), config: { maxmemory: '0' } },
      'config.maxmemory',
      'MAXMEMORY_ABOVE_LIMIT',
    ],
    ['an amount that is none', { resources: limit('1GB') }, 'resources.limits.memory', 'INVALID_QUANTITY'],
    ['a command for an image', engineOf('redis:8.0 ; rm'), 'engine.image', 'INVALID_IMAGE'],
    ['an image in capitals', engineOf('Redis:8.0'), 'engine.image', 'INVALID_IMAGE'],
    ['no image', engineOf(''), 'engine.image', 'INVALID_IMAGE'],
    [
      'a request above its limit',
      { resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } },
      'resources.requests.memory',
      'INVALID_RESOURCE',
    ],
    [
      'a request of Sentinels above its limit',
      { sentinel: { resources: { requests: { cpu: '1' }, limits: { cpu: '100m' } } } },
      'sentinel.resources.requests.cpu',
      'INVALID_RESOURCE',
    ],
    ['an unknown resource', { resources: { limits: { ram: '1Gi' } } }, 'resources.limits.ram', 'INVALID_RESOURCE'],
    ['an endless amount', { resources: limit('1e999') }, 'resources.limits.memory', 'INVALID_QUANTITY'],
    [
      'a class that cannot be',
      { storage: { type: 'PersistentVolume', size: '1Gi', storageClassName: 'Fast SSD' } },
      'storage.storageClassName',
      'INVALID_STORAGE_CLASS',
    ],
    ['a volume without a size', { storage: { type: 'PersistentVolume' } }, 'storage.size', 'STORAGE_SIZE_REQUIRED'],
    ['a volume of nothing', { storage: { type: 'PersistentVolume', size: '0' } }, 'storage.size', 'INVALID_QUANTITY'],
  ])('refuses %s', (_, part, path, code) => {
    const problems = validateSpec({ ...base, ...part });
    expect(problems.map((problem) => [problem.path.join('.'), problem.code])).toEqual([[`spec.${path}`, code]]);
    expect(problems[0]?.message).toMatch(/[.]$/);
  });

  it('names every problem at once', () => {
    const spec: RedisClusterSpec = { ...base, size: 1, config: { port: '1', bind: '0.0.0.0' } };
    expect(validateSpec(spec)).toHaveLength(3);
  });

  it('refuses more directives than the API server could check', () => {
    const config = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`x${index}`, '1']));
    expect(validateSpec({ ...base, config }).map(({ code }) => code)).toEqual(['INVALID_CONFIG']);
  });
});

describe('validateNewSpec', () => {
  it.each<[string, Partial<RedisClusterSpec>, string]>([
    [
      'a class without volumes',
      { storage: { type: 'Ephemeral', storageClassName: 'fast' } },
      'storage.storageClassName',
    ],
    [
      "a priority of Kubernetes' own components",
      { scheduling: { priorityClassName: 'system-cluster-critical' } },
      'scheduling.priorityClassName',
    ],
    ['a library for the server', { config: { 'search-ext-load': '/data/dump.rdb' } }, 'config.search-ext-load'],
    ['a failover after days', { sentinel: { failoverTimeout: '24h1ms' } }, 'sentinel.failoverTimeout'],
  ])('refuses %s, which validateSpec lets live', (_, part, path) => {
    const spec = { ...base, ...part };
    expect(validateSpec(spec)).toEqual([]);
    expect(validateNewSpec(spec).map((problem) => problem.path.join('.'))).toEqual([`spec.${path}`]);
  });

  it('takes a day, and refuses all that validateSpec refuses', () => {
    expect(validateNewSpec({ ...base, sentinel: { downAfter: '24h' } })).toEqual([]);
    expect(validateNewSpec({ ...base, size: 16 })).toEqual(validateSpec({ ...base, size: 16 }));
  });
});
