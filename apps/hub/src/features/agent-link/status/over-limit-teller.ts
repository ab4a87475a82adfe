/**
 * Says that an agent told more than the hub keeps for one: counts it in a metric, and once an hour for each limit as a line
 * of the log and as an Event of the agent, which has no object. Its session goes on. Said with every batch it would be a
 * flood of its own.
 */
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';

import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { AGENT_LIMITS } from './agent-limits.rules.ts';
import { MAX_ITEM_BYTES } from './bound-item.rules.ts';
import { eventIdOf } from './event-id.ts';

export type AgentLimit = 'LOCAL_OBJECTS' | 'EVENTS' | 'ITEM_BYTES' | 'FRAMES';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Agents and limits that are remembered as said. */
const MAX_REMEMBERED = 50_000;

const MESSAGES: Readonly<Record<AgentLimit, string>> = {
  LOCAL_OBJECTS: `The agent tells more RedisClusters that this hub does not manage than it keeps for one agent (${AGENT_LIMITS.localObjects}, ${AGENT_LIMITS.localBytes / 2 ** 20} MiB): the others are not listed. Managed ones are not affected. Remove what is not needed there, or enrol an agent for a namespace.`,
  EVENTS: `The agent tells more than ${AGENT_LIMITS.eventsPerMinute} events a minute: the others are not kept. Look for what repeats in its member cluster.`,
  ITEM_BYTES: `The agent tells more than ${MAX_ITEM_BYTES / 1024} KiB of one object: its status is shown without its largest parts.`,
  FRAMES:
    'The agent sends more messages than the hub reads of one agent: they wait. Look at its log; an agent of this release does not do so.',
};

export interface OverLimitParts {
  readonly dataSource: DataSource;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export class OverLimitTeller {
  readonly #parts: OverLimitParts;
  readonly #toldMs = new Map<string, number>();

  constructor(parts: OverLimitParts) {
    this.#parts = parts;
  }

  note(agentId: string, limit: AgentLimit, count = 1): void {
    const { metrics, log, nowMs } = this.#parts;
    metrics.overLimit.inc({ limit }, count);
    const key = `${agentId} ${limit}`;
    if (nowMs() - (this.#toldMs.get(key) ?? -Infinity) < HOUR_MS) return;
    if (this.#toldMs.size >= MAX_REMEMBERED) this.#toldMs.clear();
    this.#toldMs.set(key, nowMs());
    log.warn({ code: 'AGENT_OVER_LIMIT', agentId, limit, count }, MESSAGES[limit]);
    this.#store(agentId, limit).catch((error: unknown) => log.warn({ err: error }, 'an Event could not be stored'));
  }

  /** One Event a day and limit, whichever replica says it; when, for `Agent.problem`. */
  async #store(agentId: string, limit: AgentLimit): Promise<void> {
    const atMs = this.#parts.nowMs();
    const first = new Date(atMs - (atMs % DAY_MS)).toISOString();
    const reason = `AgentOverLimit`;
    const message = MESSAGES[limit];
    const id = eventIdOf(agentId, {
      namespace: '',
      name: '',
      severity: 'Warning',
      reason,
      message,
      first,
      last: first,
      count: 1,
    });
    await this.#parts.dataSource.query(
      `INSERT INTO agent_event_usage (agent_id, minute_at, minute_count, over_limit_at) VALUES ($1, now(), 0, now())
       ON CONFLICT (agent_id) DO UPDATE SET over_limit_at = excluded.over_limit_at`,
      [agentId],
    );
    await this.#parts.dataSource.query(
      `INSERT INTO event (id, at, agent_id, severity, reason, message, first_at, last_at, count)
       SELECT $1, now(), $2, 'Warning', $3, $4, $5, now(), 1
       WHERE NOT EXISTS (SELECT 1 FROM event WHERE id = $1 AND at > now() - interval '2 days')`,
      [id, agentId, reason, message, first],
    );
  }
}
