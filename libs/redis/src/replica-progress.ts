import type { RedisNodeFacts } from '#domain';
import type { ReachableRedis } from './build-redis-facts.ts';

interface Standstill {
  readonly runId: string;
  readonly appliedBytes: number;
  readonly sinceMs: number;
}

/**
 * Tells a replica that stands still from one that is only behind: it has read more of its primary's stream than it has
 * applied, and has applied nothing since an earlier look. INFO says neither that its writes are paused (Redis and Valkey
 * 8.1) nor since when nothing was applied, so what the last look saw is remembered.
 */
export class ReplicaProgress {
  #standstill: Standstill | undefined;

  look(facts: ReachableRedis, readBytes: number, nowMs: number): Pick<Reachable, 'unappliedForMs'> {
    const { role, runId, offsetBytes: appliedBytes, linkUp, syncInProgress, loading } = facts;
    const applies = role !== 'slave' || linkUp !== true || syncInProgress || loading || readBytes <= appliedBytes;
    if (applies) this.#standstill = undefined;
    else if (this.#standstill?.runId !== runId || this.#standstill.appliedBytes !== appliedBytes)
      this.#standstill = { runId, appliedBytes, sinceMs: nowMs };
    return this.#standstill === undefined ? {} : { unappliedForMs: Math.round(nowMs - this.#standstill.sinceMs) };
  }
}

type Reachable = Extract<RedisNodeFacts, { reachable: true }>;
