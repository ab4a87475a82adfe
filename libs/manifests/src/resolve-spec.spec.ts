import { describe, expect, it } from 'vitest';
import { SPEC_LIMITS, type RedisClusterSpec } from '#domain';
import { resolveSpec } from './resolve-spec.ts';

const base: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' };

describe('resolveSpec', () => {
  it('fills in every default', () => {
    expect(resolveSpec(base)).toMatchObject({
      engine: { image: 'docker.io/library/redis:8.0' },
      size: 3,
      sentinel: { replicas: 3, quorum: 2, downAfterMs: 5_000, failoverTimeoutMs: 15_000 },
      storage: { type: 'Ephemeral' },
      persistenceEnabled: false,
      deletionPolicy: 'RetainVolumes',
    });
  });

  it('keeps what the user wrote', () => {
    const spec: RedisClusterSpec = {
      ...base,
      engine: { type: 'Valkey', version: '8.1', image: 'registry.example/valkey:8' },
      size: 5,
      sentinel: { replicas: 5, downAfter: '1m30s', failoverTimeout: '500ms' },
      storage: { type: 'PersistentVolume', size: '1Gi' },
      persistence: { enabled: false },
      deletionPolicy: 'Deny',
    };
    expect(resolveSpec(spec)).toMatchObject({
      engine: { image: 'registry.example/valkey:8' },
      size: 5,
      sentinel: { replicas: 5, quorum: 3, downAfterMs: 90_000, failoverTimeoutMs: 500 },
      persistenceEnabled: false,
      deletionPolicy: 'Deny',
    });
  });

  it('asks for so many replicas that of two sides of any partition at most one has a primary and enough of them', () => {
    for (let size = 2; size <= SPEC_LIMITS.maxSize; size += 1) {
      const least = resolveSpec({ ...base, size }).failover.minReplicasToWrite;
      expect(2 + 2 * least, `size ${size}`).toBeGreaterThan(size);
      expect(least, `size ${size}`).toBeLessThan(size);
    }
  });

  it('makes one pod of a Standalone and persists on a volume', () => {
    const spec: RedisClusterSpec = { ...base, mode: 'Standalone', storage: { type: 'PersistentVolume', size: '1Gi' } };
    expect(resolveSpec(spec)).toMatchObject({ size: 1, persistenceEnabled: true });
    expect(resolveSpec({ ...base, engine: { type: 'Valkey', version: '9.1' } }).engine.image).toBe(
      'docker.io/valkey/valkey:9.1',
    );
  });
});
