/**
 * The metrics of one Redis from its answers to INFO, LATENCY LATEST, SLOWLOG LEN and CONFIG GET. Pure. Invariant: no
 * value of a key, no argument of a command and no secret becomes a label; labels are bounded by what the engine has
 * (commands, errors, databases, replicas).
 */
import { ownValue, setOwnValue } from '#domain';
import { parseInfo } from '../parse-info.ts';
import type { InfoFields } from '../parse-info.ts';
import { MetricFamilies } from './metric-family.ts';
import type { MetricFamily } from './metric-family.ts';
import { COUNTERS, GAUGES } from './metric-names.ts';

export interface RedisAnswers {
  /** INFO everything. */
  readonly info: string;
  /** LATENCY LATEST; undefined when refused. */
  readonly latency?: unknown;
  /** SLOWLOG LEN. */
  readonly slowlogLength?: unknown;
  /** CONFIG GET of numbers. */
  readonly config: Readonly<Record<string, string>>;
}

export const buildRedisMetrics = (answers: RedisAnswers, nowMs: number): readonly MetricFamily[] => {
  const info = parseInfo(answers.info);
  const families = new MetricFamilies();
  addInfoMetrics(families, info, nowMs);
  for (const [field, value] of Object.entries(info)) addListed(families, field, parsePairsOf(value));
  addLatency(families, info);
  addReplication(families, info);
  addSpikes(families, answers.latency);
  for (const [name, value] of Object.entries(answers.config)) {
    families.add('gauge', `config_${name.replaceAll('-', '_')}`, toNumber(value));
  }
  if (typeof answers.slowlogLength === 'number') families.add('gauge', 'slowlog_length', answers.slowlogLength);
  return families.list();
};

/** Plain fields of any engine process, Sentinels too. */
export const addInfoMetrics = (families: MetricFamilies, info: InfoFields, nowMs: number): void => {
  for (const [type, names] of [['gauge', GAUGES] as const, ['counter', COUNTERS] as const]) {
    for (const [field, metrics] of Object.entries(names)) {
      const value = ownValue(info, field);
      if (value === undefined || !Object.hasOwn(names, field)) continue;
      for (const metric of metrics) families.add(type, metric, toNumber(value));
    }
  }
  const uptime = toNumber(info['uptime_in_seconds']);
  families.add('gauge', 'start_time_seconds', Math.floor(nowMs / 1_000) - uptime);
  families.add('gauge', 'latest_fork_seconds', toNumber(info['latest_fork_usec']) / 1e6);
  families.add('gauge', 'instance_info', 1, instanceLabels(info));
};

const INSTANCE_FIELDS = [
  'role',
  'redis_version',
  'redis_build_id',
  'redis_mode',
  'os',
  'maxmemory_policy',
  'tcp_port',
  'run_id',
  'process_id',
  'master_replid',
] as const;

const instanceLabels = (info: InfoFields): Record<string, string> => {
  const labels = Object.fromEntries(INSTANCE_FIELDS.map((field) => [field, info[field] ?? '']));
  const mode = info['redis_mode'] ?? info['server_mode'] ?? '';
  const { valkey_version: valkey } = info;
  return { ...labels, redis_mode: mode, ...(valkey === undefined ? {} : { valkey_version: valkey }) };
};

type Fields = Readonly<Record<string, string>>;

/** Fields whose names carry what they are of: `cmdstat_get`, `errorstat_ERR`, `db0`, `slave0`. */
const addListed = (families: MetricFamilies, field: string, fields: Fields): void => {
  if (field.startsWith('cmdstat_')) addCommand(families, { cmd: field.slice('cmdstat_'.length) }, fields);
  else if (field.startsWith('errorstat_')) {
    families.add('counter', 'errors_total', toNumber(fields['count']), { err: field.slice('errorstat_'.length) });
  } else if (/^db\d+$/.test(field)) addDatabase(families, { db: field }, fields);
  else if (/^slave\d+$/.test(field)) addReplica(families, fields);
};

const addCommand = (families: MetricFamilies, labels: { cmd: string }, fields: Fields): void => {
  families.add('counter', 'commands_total', toNumber(fields['calls']), labels);
  families.add('counter', 'commands_duration_seconds_total', toNumber(fields['usec']) / 1e6, labels);
  families.add('counter', 'commands_rejected_calls_total', toNumber(fields['rejected_calls']), labels);
  families.add('counter', 'commands_failed_calls_total', toNumber(fields['failed_calls']), labels);
};

const addDatabase = (families: MetricFamilies, labels: { db: string }, fields: Fields): void => {
  families.add('gauge', 'db_keys', toNumber(fields['keys']), labels);
  families.add('gauge', 'db_keys_expiring', toNumber(fields['expires']), labels);
  families.add('gauge', 'db_avg_ttl_seconds', toNumber(fields['avg_ttl']) / 1_000, labels);
};

const addReplica = (families: MetricFamilies, fields: Fields): void => {
  const labels = {
    slave_ip: fields['ip'] ?? '',
    slave_port: fields['port'] ?? '',
    slave_state: fields['state'] ?? '',
  };
  families.add('gauge', 'connected_slave_offset_bytes', toNumber(fields['offset']), labels);
  families.add('gauge', 'connected_slave_lag_seconds', toNumber(fields['lag']), labels);
};

const addReplication = (families: MetricFamilies, info: InfoFields): void => {
  if (info['role'] !== 'slave') return;
  const labels = { master_host: info['master_host'] ?? '', master_port: info['master_port'] ?? '' };
  families.add('gauge', 'master_link_up', info['master_link_status'] === 'up' ? 1 : 0, labels);
  for (const field of ['master_last_io_seconds_ago', 'master_sync_in_progress', 'slave_repl_offset']) {
    families.add('gauge', field, toNumber(ownValue(info, field)), labels);
  }
  families.add('gauge', 'slave_info', 1, { ...labels, read_only: info['slave_read_only'] ?? '' });
};

const LATENCY_PREFIX = 'latency_percentiles_usec_';

/** A summary a command; its sum and count come from the command's statistics. */
const addLatency = (families: MetricFamilies, info: InfoFields): void => {
  const name = 'latency_percentiles_usec';
  for (const [field, text] of Object.entries(info)) {
    if (!field.startsWith(LATENCY_PREFIX)) continue;
    const cmd = field.slice(LATENCY_PREFIX.length);
    const stats = parsePairsOf(ownValue(info, `cmdstat_${cmd}`) ?? '');
    for (const [percentile, value] of Object.entries(parsePairsOf(text))) {
      const labels = { cmd, quantile: String(Number((toNumber(percentile.slice(1)) / 100).toFixed(6))) };
      families.add('summary', name, toNumber(value), labels);
    }
    families.addSample('summary', name, { labels: { cmd }, value: toNumber(stats['usec']), suffix: '_sum' });
    families.addSample('summary', name, { labels: { cmd }, value: toNumber(stats['calls']), suffix: '_count' });
  }
};

/** LATENCY LATEST: event, time, last and longest spike in ms. */
const addSpikes = (families: MetricFamilies, latency: unknown): void => {
  if (!Array.isArray(latency)) return;
  for (const entry of latency as readonly unknown[]) {
    const [event, at, lastMs] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
    if (typeof event !== 'string') continue;
    families.add('gauge', 'latency_spike_last', Number(at), { event_name: event });
    families.add('gauge', 'latency_spike_duration_seconds', Number(lastMs) / 1_000, { event_name: event });
  }
};

/** `a=1,b=2` as a record. */
export const parsePairsOf = (text: string): Fields => {
  const fields: Record<string, string> = {};
  for (const part of text.split(',')) {
    const equals = part.indexOf('=');
    if (equals > 0) setOwnValue(fields, part.slice(0, equals), part.slice(equals + 1));
  }
  return fields;
};

const WORDS: Readonly<Record<string, number>> = { ok: 1, true: 1, err: 0, fail: 0, false: 0 };

/** NaN for what is no number; such a sample is left out. */
export const toNumber = (text: string | undefined): number => {
  if (text === undefined || text === '') return NaN;
  return ownValue(WORDS, text) ?? Number(text);
};
