/** What Prometheus is told of the agent's work. Names are a promise to users: they are in dashboards. */
import type { Lead } from './lead.ts';
import type { PassOutcome } from './loop/index.ts';
import type { Metrics } from './platform/index.ts';

const PASS_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10];

export interface AgentMetrics {
  countPass(outcome: PassOutcome, durationMs: number): void;
}

/** `lead` is asked at each scrape; undefined in a standby. */
export const addAgentMetrics = (metrics: Metrics, lead: () => Lead | undefined): AgentMetrics => {
  const passes = metrics.counter('atoll_agent_passes_total', 'Passes over a RedisCluster, by outcome.');
  const actions = metrics.counter('atoll_agent_actions_total', 'Actions carried out, by kind.');
  const seconds = metrics.histogram('atoll_agent_pass_seconds', 'Duration of a pass.', PASS_SECONDS);
  metrics.gaugeOf('atoll_agent_leads', '1 in the process that holds the Lease.', () => (lead() === undefined ? 0 : 1));
  metrics.gaugeOf('atoll_agent_queue_depth', 'RedisClusters that wait or are being worked on.', () =>
    countOf(lead()?.operator.queueDepth),
  );
  metrics.gaugeOf('atoll_agent_redis_clusters', 'RedisClusters in the scope of this agent.', () =>
    countOf(lead()?.operator.cache.keys().length),
  );
  metrics.gaugeOf('atoll_agent_redis_clusters_not_ready', 'Of those, the ones whose phase is not Ready.', () =>
    countOf(
      lead()
        ?.operator.cache.resources()
        .filter(({ status }) => status?.phase !== 'Ready').length,
    ),
  );
  metrics.gaugeOf('atoll_agent_hub_connected', '1 while there is a session with the hub.', () =>
    lead()?.link?.state().connected === true ? 1 : 0,
  );
  return {
    countPass: ({ result }, durationMs) => {
      passes.increase({ outcome: result.failure === undefined ? 'ok' : 'failed' });
      for (const action of result.done) actions.increase({ kind: action.kind });
      seconds.observe(durationMs / 1_000);
    },
  };
};

const countOf = (value: number | undefined): number => value ?? 0;
