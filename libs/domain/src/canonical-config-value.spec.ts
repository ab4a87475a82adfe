import { describe, expect, it } from 'vitest';
import { canonicalConfigName, isSameConfigValue } from './canonical-config-value.ts';

describe('isSameConfigValue', () => {
  it.each([
    ['maxmemory', '100mb', '104857600'],
    ['maxmemory', '100m', '100000000'],
    ['maxmemory', '1KB', '1024'],
    ['maxmemory-clients', '50%', '50%'],
    ['appendfsync', 'Always', 'always'],
    ['activerehashing', 'YES', 'yes'],
    ['save', '3600  1 300 100', '3600 1 300 100'],
    ['save', '', ''],
    ['notify-keyspace-events', 'KEA', 'AKE'],
    ['notify-keyspace-events', 'Kg$lshzxetdE', 'AKE'],
    [
      'client-output-buffer-limit',
      'Replica 1mb 1kb 60',
      'normal 0 0 0 slave 1048576 1024 60 pubsub 33554432 8388608 60',
    ],
    ['latency-tracking-info-percentiles', '50 99.90', '50 99.9'],
  ])('%s %j is what CONFIG GET calls %j', (name, wanted, live) => {
    expect(isSameConfigValue(name, wanted, live)).toBe(true);
  });

  it.each([
    ['maxmemory', '100mb', '100000000'],
    ['notify-keyspace-events', 'Kx', 'KX'],
    ['save', '3600 1', ''],
    ['client-output-buffer-limit', 'normal 1mb 0 0', 'normal 0 0 0 slave 268435456 67108864 60'],
    ['availability-zone', 'Zone-A', 'zone-a'],
  ])('%s %j is not %j', (name, wanted, live) => {
    expect(isSameConfigValue(name, wanted, live)).toBe(false);
  });
});

it('two names of one directive have one canonical name', () => {
  const pairs = [
    ['slave-lazy-flush', 'replica-lazy-flush'],
    ['repl-ping-slave-period', 'repl-ping-replica-period'],
    ['hash-max-ziplist-entries', 'hash-max-listpack-entries'],
    ['lua-time-limit', 'busy-reply-threshold'],
  ] as const;
  for (const [old, today] of pairs) expect(canonicalConfigName(old)).toBe(canonicalConfigName(today));
});
