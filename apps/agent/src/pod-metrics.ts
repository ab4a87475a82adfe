/**
 * The series about single RedisClusters and pods. Read from the last passes at each scrape, so that a series vanishes
 * with its object; at most MAX_PODS pods and MAX_CLUSTERS RedisClusters are told, the rest is counted as left out, since
 * a page without an end would hurt agent and Prometheus alike.
 */
import type { ConditionType, RedisClusterObject } from '#domain';
import type { Lead } from './lead.ts';
import type { LabelledValue, Metrics } from './platform/index.ts';
import type { PodReading } from './report/index.ts';

const MAX_PODS = 3_000;
const MAX_CLUSTERS = 1_000;
/** Those that alarms are made of. */
const TOLD_CONDITIONS = new Set<ConditionType>([
  'Ready',
  'Stalled',
  'Available',
  'Degraded',
  'DataAtRisk',
  'ActionRequired',
  'NodeUnreachable',
]);

type CurrentLead = () => Lead | undefined;

export const addPodMetrics = (metrics: Metrics, lead: CurrentLead): void => {
  const readings = (): readonly PodReading[] => [...(lead()?.operator.readings.list() ?? [])];
  const podGauge = (name: string, help: string, read: (reading: PodReading) => number | undefined): void =>
    metrics.gaugesOf(`atoll_redis_pod_${name}`, help, () => toValues(readings().slice(0, MAX_PODS), read));
  metrics.gaugesOf('atoll_redis_pod_role', 'Constant 1; the role is in the label.', () =>
    readings()
      .slice(0, MAX_PODS)
      .map((reading): LabelledValue => [{ ...labelsOf(reading), role: reading.role }, 1]),
  );
  podGauge('up', '1 when it answered in the last pass.', ({ up }) => Number(up));
  podGauge('link_up', '1 while a replica is linked to its primary.', ({ linkUp }) => asNumber(linkUp));
  podGauge('lag_bytes', 'Bytes that a replica is behind the primary.', ({ lagBytes }) => lagBytes);
  podGauge('memory_used_bytes', 'used_memory of INFO.', ({ usedMemoryBytes }) => usedMemoryBytes);
  podGauge('memory_max_bytes', 'maxmemory of INFO.', ({ maxmemoryBytes }) => maxmemoryBytes);
  podGauge('keys', 'Keys of all databases.', ({ keys }) => keys);
  addClusterMetrics(metrics, lead);
  metrics.gaugeOf('atoll_agent_pods_left_out', 'Pods beyond the bound, without series of their own.', () =>
    Math.max(0, readings().length - MAX_PODS),
  );
};

const addClusterMetrics = (metrics: Metrics, lead: CurrentLead): void => {
  const resources = (): readonly RedisClusterObject[] =>
    (lead()?.operator.ownedResources() ?? []).slice(0, MAX_CLUSTERS);
  metrics.gaugesOf('atoll_redis_cluster_phase', 'Constant 1; the phase is in the label.', () =>
    resources().map((resource): LabelledValue => [
      { ...nameLabels(resource), phase: resource.status?.phase ?? 'Pending' },
      1,
    ]),
  );
  metrics.gaugesOf('atoll_redis_cluster_condition', '1 while the condition is True.', () =>
    resources().flatMap((resource) =>
      (resource.status?.conditions ?? [])
        .filter(({ type }) => TOLD_CONDITIONS.has(type))
        .map(({ type, status }): LabelledValue => [{ ...nameLabels(resource), type }, Number(status === 'True')]),
    ),
  );
};

const nameLabels = ({ metadata }: RedisClusterObject): Readonly<Record<string, string>> => ({
  namespace: metadata.namespace ?? '',
  rediscluster: metadata.name,
});

const labelsOf = ({ namespace, redisCluster, pod }: PodReading): Readonly<Record<string, string>> => ({
  namespace,
  rediscluster: redisCluster,
  pod,
});

const asNumber = (flag: boolean | undefined): number | undefined => (flag === undefined ? undefined : Number(flag));

const toValues = (
  readings: readonly PodReading[],
  read: (reading: PodReading) => number | undefined,
): readonly LabelledValue[] =>
  readings.flatMap((reading): LabelledValue[] => {
    const value = read(reading);
    return value === undefined ? [] : [[labelsOf(reading), value]];
  });
