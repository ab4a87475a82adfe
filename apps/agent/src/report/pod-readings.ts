/**
 * What the last pass saw of each pod, for Prometheus: a few numbers a pod, nothing asked anew. A RedisCluster that is
 * gone, or that another agent owns now, has no readings, so its series vanish with it.
 */
import { formatObjectKey, ownValue } from '#domain';
import type { ObjectKey, RedisClusterSnapshot, RedisNodeFacts } from '#domain';

export interface PodReading {
  readonly namespace: string;
  readonly redisCluster: string;
  readonly pod: string;
  /** As the process says; two may say primary, which is worth an alarm. */
  readonly role: 'primary' | 'replica' | 'sentinel' | 'unknown';
  readonly up: boolean;
  readonly linkUp?: boolean;
  /** Behind the offset of the primary that answers. */
  readonly lagBytes?: number;
  readonly usedMemoryBytes?: number;
  readonly maxmemoryBytes?: number;
  readonly keys?: number;
}

export class PodReadings {
  readonly #byCluster = new Map<string, readonly PodReading[]>();

  /** Replaces what was read of this RedisCluster; a snapshot of one that we do not own takes its readings away. */
  keep(key: ObjectKey, snapshot: RedisClusterSnapshot): void {
    if (snapshot.ownsNamespace) this.#byCluster.set(formatObjectKey(key), readPods(key, snapshot));
    else this.forget(key);
  }

  forget(key: ObjectKey): void {
    this.#byCluster.delete(formatObjectKey(key));
  }

  *list(): Generator<PodReading> {
    for (const readings of this.#byCluster.values()) yield* readings;
  }
}

type Reachable = Extract<RedisNodeFacts, { reachable: true }>;

const readPods = (key: ObjectKey, { pods, redis, sentinels }: RedisClusterSnapshot): PodReading[] => {
  const primary = Object.values(redis).find((facts): facts is Reachable => facts.reachable && facts.role === 'master');
  return pods.map((pod) => {
    const base = { namespace: key.namespace, redisCluster: key.name, pod: pod.name };
    const facts = ownValue(redis, pod.name);
    if (pod.component === 'sentinel')
      return { ...base, role: 'sentinel', up: ownValue(sentinels, pod.name)?.reachable === true };
    if (facts?.reachable !== true) return { ...base, role: 'unknown', up: false };
    return { ...base, role: facts.role === 'master' ? 'primary' : 'replica', up: true, ...numbersOf(facts, primary) };
  });
};

const numbersOf = (facts: Reachable, primary: Reachable | undefined): Partial<PodReading> => ({
  keys: facts.keys,
  ...(facts.usedMemoryBytes === undefined ? {} : { usedMemoryBytes: facts.usedMemoryBytes }),
  ...(facts.maxmemoryBytes === undefined ? {} : { maxmemoryBytes: facts.maxmemoryBytes }),
  ...(facts.role === 'master' ? {} : { linkUp: facts.linkUp === true }),
  ...(facts.role === 'master' || primary === undefined
    ? {}
    : { lagBytes: Math.max(0, primary.offsetBytes - facts.offsetBytes) }),
});
