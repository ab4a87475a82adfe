import { describe, expect, it } from 'vitest';
import { buildRedisMetrics } from './build-redis-metrics.ts';
import { buildSentinelMetrics } from './build-sentinel-metrics.ts';
import type { MetricFamily } from './metric-family.ts';

const valueOf = (families: readonly MetricFamily[], name: string, labels: Record<string, string> = {}) =>
  families
    .find((family) => family.name === name)
    ?.samples.find((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))?.value;

describe('metrics of a text', () => {
  const info = [
    '# Replication',
    'role:slave',
    'master_host:10.0.0.1',
    'master_port:6379',
    'master_link_status:down',
    'master_last_io_seconds_ago:-1',
    'master_sync_in_progress:0',
    'slave_repl_offset:12',
    'slave_read_only:1',
    'uptime_in_seconds:10',
    'rdb_last_bgsave_status:err',
    'latest_fork_usec:2500',
    'errorstat_WRONGPASS:count=3',
    'cmdstat_client|list:calls=2,usec=30,usec_per_call=15.00,rejected_calls=1,failed_calls=0',
    'latency_percentiles_usec_client|list:p50=1.003,p99.9=4.015',
    'db3:keys=7,expires=2,avg_ttl=1500',
  ].join('\r\n');
  const families = buildRedisMetrics(
    { info, config: { maxmemory: '100' }, latency: [['command', 1_700_000_000, 120, 300]], slowlogLength: 4 },
    100_000,
  );

  it.each<[string, Record<string, string>, number]>([
    ['redis_master_link_up', { master_host: '10.0.0.1', master_port: '6379' }, 0],
    ['redis_master_last_io_seconds_ago', {}, -1],
    ['redis_slave_info', { read_only: '1' }, 1],
    ['redis_start_time_seconds', {}, 90],
    ['redis_rdb_last_bgsave_status', {}, 0],
    ['redis_latest_fork_usec', {}, 2500],
    ['redis_latest_fork_seconds', {}, 0.0025],
    ['redis_errors_total', { err: 'WRONGPASS' }, 3],
    ['redis_commands_rejected_calls_total', { cmd: 'client|list' }, 1],
    ['redis_commands_duration_seconds_total', { cmd: 'client|list' }, 0.00003],
    ['redis_latency_percentiles_usec', { cmd: 'client|list', quantile: '0.999' }, 4.015],
    ['redis_db_keys', { db: 'db3' }, 7],
    ['redis_db_avg_ttl_seconds', { db: 'db3' }, 1.5],
    ['redis_latency_spike_duration_seconds', { event_name: 'command' }, 0.12],
    ['redis_slowlog_length', {}, 4],
    ['redis_config_maxmemory', {}, 100],
  ])('%s %j', (name, labels, value) => {
    expect(valueOf(families, name, labels)).toBe(value);
  });

  it('leaves out what is no number instead of telling zero', () => {
    const odd = buildRedisMetrics({ info: 'used_memory:unknown\r\nuptime_in_seconds:', config: {} }, 0);
    expect(odd.map(({ name }) => name)).toEqual(['redis_instance_info']);
  });
});

describe('metrics of a Sentinel', () => {
  const info =
    'sentinel_masters:1\r\nsentinel_tilt:0\r\nmaster0:name=m,status=sdown,address=10.0.0.1:6379,slaves=2,sentinels=3';
  const peer = (flags: string) => ['name', 'x', 'ip', '10.0.0.2', 'port', '1', 'flags', flags];

  it('counts those that are well, itself among the Sentinels', () => {
    const families = buildSentinelMetrics(
      {
        masterName: 'm',
        info,
        master: ['ip', '10.0.0.1', 'port', '6379', 'quorum', '2', 'last-ok-ping-reply', '1500'],
        sentinels: [peer('sentinel'), peer('sentinel,s_down')],
        replicas: [peer('slave'), peer('slave,o_down,s_down')],
        checkQuorum: undefined,
      },
      0,
    );
    const labels = { master_name: 'm', master_address: '10.0.0.1:6379' };
    expect(valueOf(families, 'redis_sentinel_master_status', { ...labels, master_status: 'sdown' })).toBe(0);
    expect(valueOf(families, 'redis_sentinel_master_sentinels', labels)).toBe(3);
    expect(valueOf(families, 'redis_sentinel_master_ok_sentinels', labels)).toBe(2);
    expect(valueOf(families, 'redis_sentinel_master_ok_slaves', labels)).toBe(1);
    expect(valueOf(families, 'redis_sentinel_master_setting_ckquorum', labels)).toBe(2);
    expect(valueOf(families, 'redis_sentinel_master_last_ok_ping_reply_seconds', labels)).toBe(1.5);
    expect(valueOf(families, 'redis_sentinel_master_ckquorum_status', { master_name: 'm' })).toBe(0);
  });
});
