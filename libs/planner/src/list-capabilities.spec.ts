import { describe, expect, it } from 'vitest';
import type { RedisClusterSpec } from '#domain';
import { resolveSpec } from '#manifests';
import { listCapabilities } from './list-capabilities.ts';

const list = (spec: Partial<RedisClusterSpec>, engineVersion?: string): readonly string[] =>
  listCapabilities({
    spec: resolveSpec({ engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', ...spec }),
    engineVersion,
  });

describe('the capabilities of a data set', () => {
  it('offer a failover only where there is somebody to fail over to', () => {
    expect(list({})).toEqual(expect.arrayContaining(['Failover', 'SentinelFailover', 'Switchover']));
    expect(list({ mode: 'Standalone' }).filter((name) => /Failover|Switchover/.test(name))).toEqual([]);
    expect(list({ mode: 'Replication' })).not.toContain('SentinelFailover');
  });

  it('offer what needs volumes only with volumes', () => {
    expect(list({})).not.toContain('Hibernation');
    expect(list({ storage: { type: 'PersistentVolume', size: '1Gi' } })).toEqual(
      expect.arrayContaining(['Hibernation', 'VolumeGrowth']),
    );
  });

  it('tell of the engine that runs, not of the one that is wanted', () => {
    expect(list({})).not.toContain('HashFieldExpiration');
    expect(list({}, '7.0.15')).not.toContain('HashFieldExpiration');
    expect(list({}, '8.0.2')).toContain('HashFieldExpiration');
    const valkey = { engine: { type: 'Valkey', version: '8.1' } } as const;
    expect(list(valkey, '8.1.1')).not.toContain('HashFieldExpiration');
    expect(list(valkey, '9.1.2')).toContain('HashFieldExpiration');
  });

  it('leave the metrics out with the exporter', () => {
    expect(list({})).toContain('Metrics');
    expect(list({ monitoring: { exporter: false } })).not.toContain('Metrics');
  });
});
