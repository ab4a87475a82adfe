/**
 * How Prometheus reaches the metrics of each Redis: `/sd` lists the targets (HTTP service discovery), `/scrape?target=`
 * answers for one, as redis_exporter's multi-target mode does. Only the leading process has connections; a standby
 * answers 503 to both, and Prometheus keeps the list it had, whose targets carry the leader's own address.
 */
import type { MetricFamily } from '#redis';
import type { HttpQuestion, HttpReply } from './platform/index.ts';
import { renderFamilies } from './platform/index.ts';
import { BusyError } from './redis-exporter.ts';
import type { RedisExporter, ScrapeTarget } from './redis-exporter.ts';

const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8';
const STANDBY: HttpReply = {
  code: 503,
  body: 'this process is a standby: only the one that holds the Lease has connections\n',
};

/** What the routes need of RedisExporter. */
type Exporter = Pick<RedisExporter, 'targets' | 'find' | 'read'>;
type Route = (question: HttpQuestion) => Promise<HttpReply>;

/** `exporter` is asked at each request; undefined in a standby. */
export const exporterRoutes = (exporter: () => Exporter | undefined): Readonly<Record<string, Route>> => ({
  '/sd': async ({ localAddress }) => {
    const live = exporter();
    if (live === undefined) return STANDBY;
    const groups = live.targets().map((target) => describeTarget(target, localAddress));
    return { code: 200, body: `${JSON.stringify(groups)}\n`, contentType: 'application/json' };
  },
  '/scrape': async ({ query }) => {
    const live = exporter();
    if (live === undefined) return STANDBY;
    const target = live.find(query.get('target') ?? '');
    if (target === undefined)
      return { code: 404, body: 'no such target: `target` is namespace/pod of a data pod or Sentinel of this agent\n' };
    return scrape(live, target);
  },
});

const describeTarget = (target: ScrapeTarget, localAddress: string) => {
  const name = `${target.namespace}/${target.pod}`;
  return {
    targets: [localAddress],
    labels: {
      __metrics_path__: '/scrape',
      __param_target: name,
      instance: name,
      namespace: target.namespace,
      rediscluster: target.redisCluster,
      pod: target.pod,
      component: target.component,
    },
  };
};

/** A pod that does not answer is `redis_up 0` with the reason, as with redis_exporter: that it is down is the news. */
const scrape = async (exporter: Exporter, target: ScrapeTarget): Promise<HttpReply> => {
  const startedAt = performance.now();
  try {
    const families = await exporter.read(target);
    return { code: 200, body: renderFamilies([...families, ...aboutScrape(startedAt)]), contentType: EXPOSITION };
  } catch (error) {
    if (error instanceof BusyError) return { code: 503, body: `${error.message}\n` };
    const reason = error instanceof Error ? error.message : 'failed';
    return { code: 200, body: renderFamilies(aboutScrape(startedAt, reason)), contentType: EXPOSITION };
  }
};

const aboutScrape = (startedAt: number, failure?: string): readonly MetricFamily[] => [
  gauge('redis_up', 'Information about the Redis instance', failure === undefined ? 1 : 0),
  gauge('redis_exporter_last_scrape_error', 'The last scrape error status.', failure === undefined ? 0 : 1, {
    err: failure ?? '',
  }),
  gauge(
    'redis_exporter_last_scrape_duration_seconds',
    'Duration of this scrape.',
    Math.round(performance.now() - startedAt) / 1_000,
  ),
];

const gauge = (
  name: string,
  help: string,
  value: number,
  labels: Readonly<Record<string, string>> = {},
): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  samples: [{ labels, value }],
});
