// The metrics that Prometheus reads: the agent's list of targets, each Redis and Sentinel under redis_exporter's names.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  getItem,
  kubectl,
  makeNamespace,
  readConnection,
  waitFor,
  waitLocallyReady,
} from './member.ts';
import { AGENT_NAMESPACE } from './outage.ts';
import { SENTINEL_SPEC } from './specs.ts';

const NAMESPACE = 'metrics';
/** Of the names that dashboards and alerts of redis_exporter use, those that exist outside Cluster mode. */
const OF_REDIS = `redis_up redis_uptime_in_seconds redis_start_time_seconds redis_instance_info redis_connected_clients
redis_blocked_clients redis_max_clients redis_rejected_connections_total redis_memory_used_bytes redis_memory_max_bytes
redis_memory_used_rss_bytes redis_mem_fragmentation_ratio redis_memory_fragmentation_ratio redis_allocator_frag_ratio
redis_keyspace_hits_total redis_keyspace_misses_total redis_evicted_keys_total redis_expired_keys_total
redis_commands_total redis_commands_duration_seconds_total redis_commands_processed_total
redis_commands_failed_calls_total redis_net_input_bytes_total redis_net_output_bytes_total
redis_cpu_sys_main_thread_seconds_total redis_cpu_user_main_thread_seconds_total redis_rdb_last_save_timestamp_seconds
redis_rdb_last_bgsave_status redis_rdb_last_cow_size_bytes redis_rdb_bgsave_in_progress redis_aof_last_write_status
redis_latest_fork_usec redis_loading_dump_file redis_connected_slaves redis_master_repl_offset
redis_replica_resyncs_full redis_replica_partial_resync_accepted redis_slowlog_length redis_latency_percentiles_usec
redis_acl_access_denied_auth_total redis_db_keys redis_db_keys_expiring`.split(/\s+/);
const OF_PRIMARIES = ['redis_connected_slave_lag_seconds', 'redis_connected_slave_offset_bytes'];
const OF_REPLICAS = 'redis_master_link_up redis_master_last_io_seconds_ago redis_master_sync_in_progress'.split(' ');
const OF_SENTINELS = `redis_up redis_sentinel_masters redis_sentinel_master_status redis_sentinel_master_slaves
redis_sentinel_master_ok_slaves redis_sentinel_master_sentinels redis_sentinel_master_ok_sentinels
redis_sentinel_master_ckquorum_status redis_sentinel_tilt`.split(/\s+/);

interface Group {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

let fleet: Fleet;
let service: string;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
  const found = await getItem(fleet.b.cluster, AGENT_NAMESPACE, 'service', 'atoll-agent-metrics');
  service = `http://${(found?.spec as { clusterIP: string }).clusterIP}:8080`;
});
afterAll(() => cleanUp(fleet, fleet.b, NAMESPACE));

const read = async (url: string): Promise<string> => {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
};
const discover = async (): Promise<Group[]> =>
  (JSON.parse(await read(`${service}/sd`)) as Group[]).filter(({ labels }) => labels['namespace'] === NAMESPACE);
/** As Prometheus does it: path and parameter come with the target. */
const scrape = ({ targets, labels }: Group): Promise<string> =>
  read(
    `http://${targets[0]}${labels['__metrics_path__']}?target=${encodeURIComponent(labels['__param_target'] ?? '')}`,
  );

/** Names of the families; throws where a line is no sample, or a family is not in one piece. */
function parseExposition(text: string): Set<string> {
  const families = new Set<string>();
  let current = '';
  for (const line of text.trimEnd().split('\n')) {
    const type = /^# TYPE (\S+) (gauge|counter|summary|histogram)$/.exec(line)?.[1];
    if (type !== undefined) {
      if (families.has(type)) throw new Error(`${type} comes twice`);
      families.add(type);
      current = type;
    } else if (!line.startsWith('# HELP ')) {
      const name = /^([a-z_]+)(\{([a-z_]+="(\\.|[^"\\])*",?)*\})? (-?[\d.e+-]+|\+Inf)$/.exec(line)?.[1];
      if (name?.startsWith(current) !== true) throw new Error(`no sample of ${current}: ${line}`);
    }
  }
  return families;
}

const missing = (names: readonly string[], text: string): string[] => {
  const families = parseExposition(text);
  return names.filter((name) => !families.has(name));
};

it('lists every pod, answers for each under the names of redis_exporter, and forgets them with the object', async () => {
  const { cluster } = fleet.b;
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name: 'told', spec: { ...SENTINEL_SPEC, size: 2 } });
  const { status } = await waitLocallyReady(cluster, NAMESPACE, 'told');
  const client = await connectClient(cluster, NAMESPACE, 'told');
  await client.set('a-users-key', 'a-users-value', 'EX', 1_000);
  client.disconnect();
  const { password = '' } = await readConnection(cluster, NAMESPACE, 'told');
  const groups = await discover();
  expect(groups.map(({ labels }) => labels['component']).sort()).toEqual(
    ['redis', 'redis', 'sentinel', 'sentinel', 'sentinel'].sort(),
  );
  for (const group of groups) {
    const text = await scrape(group);
    expect(text).toContain('redis_up 1\n');
    expect(text).not.toContain(password);
    expect(text).not.toMatch(/a-users-(key|value)/);
    const { component, pod } = group.labels;
    const ofRole = pod === status?.currentPrimary ? OF_PRIMARIES : OF_REPLICAS;
    expect(missing(component === 'sentinel' ? OF_SENTINELS : [...OF_REDIS, ...ofRole], text), pod).toEqual([]);
  }
  const own = await read(`${service}/metrics`);
  parseExposition(own);
  expect(own).toContain(
    `atoll_redis_pod_role{namespace="${NAMESPACE}",rediscluster="told",pod="${status?.currentPrimary}",role="primary"} 1`,
  );
  expect(own).not.toContain('code="403"');

  await kubectl(cluster, [
    'patch',
    'arc',
    'told',
    '-n',
    NAMESPACE,
    '--type=merge',
    '-p',
    '{"spec":{"monitoring":{"exporter":false}}}',
  ]);
  await waitFor('an empty list of targets', async () => (await discover()).length === 0);
  await kubectl(cluster, ['delete', 'arc', 'told', '-n', NAMESPACE]);
  await waitFor('series to vanish', async () => !(await read(`${service}/metrics`)).includes('rediscluster="told"'));
});
