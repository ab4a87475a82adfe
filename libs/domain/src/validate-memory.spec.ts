import { describe, expect, it } from 'vitest';
import { declaredMaxmemoryBytes, largestMaxmemoryBytes } from './derive-maxmemory.ts';
import type { MemorySpec, RedisClusterSpec } from './redis-cluster-spec.ts';
import { validateMemory } from './validate-memory.ts';

const MIB = 2 ** 20;
const LIMIT = 1024 * MIB;
const spec = (memory: MemorySpec, more: Partial<RedisClusterSpec> = {}): RedisClusterSpec => ({
  engine: { type: 'Redis', version: '8.0' },
  mode: 'Sentinel',
  resources: { limits: { memory: '1Gi' } },
  memory,
  ...more,
});

describe('maxmemory from spec.memory', () => {
  it.each<[MemorySpec, number | undefined, number | undefined]>([
    [{}, LIMIT, undefined],
    [{ policy: 'allkeys-lru' }, LIMIT, undefined],
    [{ maxmemory: '100mb' }, LIMIT, 100 * MIB],
    [{ maxmemory: '100M' }, undefined, 100_000_000],
    [{ maxmemoryPercent: 50 }, LIMIT, 512 * MIB],
    [{ maxmemoryPercent: 33 }, 1_000_001, 330_000],
    [{ maxmemoryPercent: 50 }, undefined, undefined],
    [{ reserve: '256Mi' }, LIMIT, 768 * MIB],
    [{ reserve: '200M' }, 1_000_000_000, 800_000_000],
  ])('%j of %s bytes is %s', (memory, limitBytes, bytes) => {
    expect(declaredMaxmemoryBytes(memory, limitBytes)).toBe(bytes);
  });

  it('leaves a quarter of the limit free unless the reserve says otherwise', () => {
    expect(largestMaxmemoryBytes({}, LIMIT)).toBe(768 * MIB);
    expect(largestMaxmemoryBytes({ reserve: '124Mi' }, LIMIT)).toBe(900 * MIB);
  });
});

describe('validateMemory', () => {
  it.each<[string, RedisClusterSpec]>([
    ['what the reserve leaves, to the byte', spec({ maxmemory: '768mb' })],
    ['75 %', spec({ maxmemoryPercent: 75 })],
    ['90 % with a reserve that says so', spec({ maxmemoryPercent: 90, reserve: '107374183' })],
    ['an amount without a limit', spec({ maxmemory: '10gb' }, { resources: {} })],
    ['a policy of the line', spec({ policy: 'allkeys-lrm' }, { engine: { type: 'Redis', version: '8.6' } })],
    ['other directives beside', spec({ policy: 'allkeys-lru' }, { config: { hz: '20' } })],
  ])('takes %s', (_, given) => {
    expect(validateMemory(given)).toEqual([]);
  });

  it.each<[string, RedisClusterSpec, string, RegExp]>([
    ['both amounts', spec({ maxmemory: '1mb', maxmemoryPercent: 10 }), 'memory', /not both/],
    [
      'a percentage of nothing',
      spec({ maxmemoryPercent: 50 }, { resources: {} }),
      'memory.maxmemoryPercent',
      /set resources/,
    ],
    ['a reserve of nothing', spec({ reserve: '1Mi' }, { resources: {} }), 'memory.reserve', /set resources/],
    ['one byte more than the reserve leaves', spec({ maxmemory: '805306369' }), 'memory.maxmemory', /805306368/],
    ['76 %', spec({ maxmemoryPercent: 76 }), 'memory.maxmemoryPercent', /reserve of 25 %/],
    ['91 %', spec({ maxmemoryPercent: 91, reserve: '103Mi' }), 'memory.maxmemoryPercent', /from 10 to 90/],
    ['a reserve that is none', spec({ reserve: '10Mi' }), 'memory.reserve', /less than 10 %/],
    ['a reserve of everything', spec({ reserve: '1Gi' }), 'memory.reserve', /leaves less than/],
    ['a reserve that is a word', spec({ reserve: 'much' }), 'memory.reserve', /no Kubernetes quantity/],
    ['no bound', spec({ maxmemory: '0' }), 'memory.maxmemory', /at least 4mb/],
    ['Kubernetes units', spec({ maxmemory: '100Mi' }), 'memory.maxmemory', /Redis takes 100mb/],
    ['a policy of a later line', spec({ policy: 'allkeys-lrm' }), 'memory.policy', /Redis 8\.0 has no policy/],
    ['a policy of nobody', spec({ policy: 'lru' }), 'memory.policy', /no policy lru/],
    [
      'maxmemory said twice',
      spec({ maxmemory: '10mb' }, { config: { maxmemory: '10mb' } }),
      'config.maxmemory',
      /once/,
    ],
    [
      'the policy said twice',
      spec({ maxmemory: '10mb' }, { config: { 'maxmemory-policy': 'allkeys-lru' } }),
      'config.maxmemory-policy',
      /once/,
    ],
  ])('refuses %s', (_, given, field, message) => {
    const problems = validateMemory(given);
    expect(problems.map(({ path }) => path.join('.'))).toContain(`spec.${field}`);
    expect(problems.map((problem) => problem.message).join('\n')).toMatch(message);
  });
});
