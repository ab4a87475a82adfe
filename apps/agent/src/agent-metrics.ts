/** What Prometheus is told of the agent's work. Names are a promise to users: they are in dashboards. */
import type { KubeClientOptions } from '#kube';
import type { Lead } from './lead.ts';
import type { PassOutcome } from './loop/index.ts';
import type { Metrics } from './platform/index.ts';
import { addPodMetrics } from './pod-metrics.ts';

const PASS_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10];
const WAIT_SECONDS = [0.005, 0.05, 0.5, 5];

export interface AgentMetrics {
  readonly onPass: (outcome: PassOutcome, durationMs: number) => void;
  readonly onQueueWait: (waitedMs: number) => void;
}

/** `lead` is asked at each scrape; undefined in a standby. `mayWrite` is the fence of the Lease. */
export const addAgentMetrics = (
  metrics: Metrics,
  lead: () => Lead | undefined,
  mayWrite: () => boolean,
): AgentMetrics => {
  addLeadMetrics(metrics, lead, mayWrite);
  addPodMetrics(metrics, lead);

  const passes = metrics.counter('atoll_agent_passes_total', 'Passes over a RedisCluster, by outcome.');
  const actions = metrics.counter('atoll_agent_actions_total', 'Actions carried out, by kind.');
  const seconds = metrics.histogram('atoll_agent_pass_seconds', 'Duration of a pass.', PASS_SECONDS);
  const failures = metrics.counter('atoll_agent_action_failures_total', 'Actions that failed, by kind and reason.');
  const reasons = metrics.counter('atoll_agent_plan_reasons_total', 'Rules that spoke in a pass, by rule and reason.');
  const waits = metrics.histogram(
    'atoll_agent_queue_wait_seconds',
    'How long a due RedisCluster waited.',
    WAIT_SECONDS,
  );
  return {
    onQueueWait: (waitedMs) => waits.observe(waitedMs / 1_000),
    onPass: ({ result, plan }, durationMs) => {
      passes.increase({ outcome: result.failure === undefined ? 'ok' : 'failed' });
      for (const action of result.done) actions.increase({ kind: action.kind });
      for (const { rule, reason } of plan?.trail ?? []) reasons.increase({ rule, reason });
      const { failure } = result;
      if (failure !== undefined) failures.increase({ kind: failure.action.kind, reason: failure.reason });
      seconds.observe(durationMs / 1_000);
    },
  };
};

/** Requests to the API server by what RBAC calls them: what an agent uses of its rights, and what it is denied. */
export const countApiRequests = (metrics: Metrics): NonNullable<KubeClientOptions['onAnswer']> => {
  const help = 'Answers of the API server, by verb, resource and code; a watch counts when it ends.';
  const requests = metrics.counter('atoll_agent_api_requests_total', help);
  return ({ verb, resource, status }) => requests.increase({ verb, resource, code: String(status) });
};

const addLeadMetrics = (metrics: Metrics, lead: () => Lead | undefined, mayWrite: () => boolean): void => {
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
  const unclaimed = 'RedisClusters here that the hub does not know any more; they are kept.';
  metrics.gaugeOf('atoll_agent_unclaimed_redis_clusters', unclaimed, () =>
    countOf(lead()?.link?.state().unclaimedObjects),
  );
  const refused = 'Deletes that came from the hub all at once and were not carried out, since this process leads.';
  metrics.gaugeOf('atoll_agent_refused_deletes', refused, () => countOf(lead()?.link?.state().refusedDeletes));
  const held =
    'Changes of specs that the hub wants, that can lose data or stop Redis, and that wait for a person here.';
  metrics.gaugeOf('atoll_agent_held_changes', held, () => countOf(lead()?.link?.state().heldChanges));
  metrics.gaugeOf('atoll_agent_lease_valid', '1 while the Lease is young enough to act on.', () => Number(mayWrite()));
  metrics.gaugeOf('atoll_agent_hub_unacknowledged', 'Statuses and events that the hub has not acknowledged.', () => {
    const { status = 0, events = 0 } = lead()?.link?.state().outbox ?? {};
    return status + events;
  });
};

const countOf = (value: number | undefined): number => value ?? 0;
