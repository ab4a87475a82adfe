/**
 * Which RedisClusters of this agent are in a planned disruption, so that at most two are at a time (04). A pass counts
 * the others and notes its own plan in the same turn of the event loop, so two passes never take the last turn together.
 * What was not noted since this process started is read from the status, which outlives it; emergencies (failover,
 * repairs) are no rollout, so they are neither counted nor held.
 */
import { formatObjectKey } from '#domain';
import type { Plan, RedisClusterObject, RolloutStatus } from '#domain';
import { takesTurn, waitsForTurn } from '#planner';

export class DisruptionBook {
  /** Rollout of the last plan, by `namespace/name`. */
  readonly #noted = new Map<string, RolloutStatus | undefined>();

  /** How many of the others are in disruption. */
  countElsewhere(key: string, resources: readonly RedisClusterObject[]): number {
    return resources.filter((resource) => {
      const other = formatObjectKey({ namespace: resource.metadata.namespace ?? '', name: resource.metadata.name });
      if (other === key) return false;
      return takesTurn(this.#noted.has(other) ? this.#noted.get(other) : resource.status?.rollout);
    }).length;
  }

  /** Notes what a plan means to do; answers the keys that may go on because this one gave up its turn. */
  note(key: string, { status }: Plan): readonly string[] {
    const before = this.#noted.get(key);
    this.#noted.set(key, status.rollout);
    return takesTurn(before) && !takesTurn(status.rollout) ? this.#waiting() : [];
  }

  /** The RedisCluster is gone. */
  forget(key: string): readonly string[] {
    const before = this.#noted.get(key);
    this.#noted.delete(key);
    return takesTurn(before) ? this.#waiting() : [];
  }

  #waiting(): readonly string[] {
    return [...this.#noted].filter(([, rollout]) => waitsForTurn(rollout)).map(([key]) => key);
  }
}
