/** The metrics of one Sentinel, under redis_exporter's names, from INFO and what it knows of one master name. Pure. */
import { ownValue } from '#domain';
import { parseInfo } from '../parse-info.ts';
import { parseSentinelMaster, parseSentinelPeers } from '../parse-sentinel.ts';
import { addInfoMetrics, parsePairsOf, toNumber } from './build-redis-metrics.ts';
import { MetricFamilies } from './metric-family.ts';
import type { MetricFamily } from './metric-family.ts';
import { SENTINEL_GAUGES } from './metric-names.ts';

export interface SentinelAnswers {
  readonly masterName: string;
  readonly info: string;
  /** Of SENTINEL MASTER, SENTINELS, REPLICAS, CKQUORUM; undefined where it answered with an error. */
  readonly master: unknown;
  readonly sentinels: unknown;
  readonly replicas: unknown;
  readonly checkQuorum: unknown;
}

export const buildSentinelMetrics = (answers: SentinelAnswers, nowMs: number): readonly MetricFamily[] => {
  const info = parseInfo(answers.info);
  const families = new MetricFamilies();
  addInfoMetrics(families, info, nowMs);
  for (const name of SENTINEL_GAUGES) families.add('gauge', name, toNumber(info[name]));
  for (const [field, value] of Object.entries(info)) {
    if (/^master\d+$/.test(field)) addMasterOfInfo(families, parsePairsOf(value));
  }
  if (answers.master !== undefined) addMaster(families, answers);
  return families.list();
};

const addMasterOfInfo = (families: MetricFamilies, fields: Readonly<Record<string, string>>): void => {
  const labels = { master_name: fields['name'] ?? '', master_address: fields['address'] ?? '' };
  const status = fields['status'] ?? '';
  families.add('gauge', 'sentinel_master_status', status === 'ok' ? 1 : 0, { ...labels, master_status: status });
  families.add('gauge', 'sentinel_master_slaves', toNumber(fields['slaves']), labels);
  families.add('gauge', 'sentinel_master_sentinels', toNumber(fields['sentinels']), labels);
};

const SETTINGS: readonly (readonly [field: string, metric: string])[] = [
  ['quorum', 'sentinel_master_setting_ckquorum'],
  ['failover-timeout', 'sentinel_master_setting_failover_timeout'],
  ['parallel-syncs', 'sentinel_master_setting_parallel_syncs'],
  ['down-after-milliseconds', 'sentinel_master_setting_down_after_milliseconds'],
  ['config-epoch', 'sentinel_master_config_epoch'],
];

const addMaster = (families: MetricFamilies, answers: SentinelAnswers): void => {
  const master = parseSentinelMaster(answers.master);
  const labels = { master_name: answers.masterName, master_address: `${master.host}:${master.port}` };
  const quorum = typeof answers.checkQuorum === 'string' ? answers.checkQuorum : '';
  families.add('gauge', 'sentinel_master_ckquorum_status', quorum.startsWith('OK') ? 1 : 0, {
    master_name: answers.masterName,
    message: quorum,
  });
  for (const [field, metric] of SETTINGS)
    families.add('gauge', metric, toNumber(ownValue(master.fields, field)), labels);
  families.add(
    'gauge',
    'sentinel_master_last_ok_ping_reply_seconds',
    toNumber(master.fields['last-ok-ping-reply']) / 1_000,
    labels,
  );
  // This Sentinel itself is one that is well.
  families.add('gauge', 'sentinel_master_ok_sentinels', 1 + countOk(answers.sentinels), labels);
  families.add('gauge', 'sentinel_master_ok_slaves', countOk(answers.replicas), labels);
};

const countOk = (peers: unknown): number =>
  parseSentinelPeers(peers).filter(({ flags }) => !flags.some((flag) => /^[os]_down$/.test(flag))).length;
