/**
 * Hands to the link what does not travel in the RedisCluster object: events, and the numbers that move (they may not be
 * in the status, or each pass would write to etcd). It is not a queue: a listener that is slow loses only the steps in
 * between. The status itself reaches the link through the cache of RedisClusters.
 */
import { formatObjectKey } from '#domain';
import type { ObjectKey, RedisClusterSnapshot } from '#domain';
import type { EventItem } from '#protocol';

/** An event as it travels to the hub, with its object as the agent knows it. */
export interface ReportedEvent extends Omit<EventItem, keyof ObjectKey> {
  readonly key: ObjectKey;
}

export type Numbers = Readonly<Record<string, number>>;

export class ReportFeed {
  readonly #numbers = new Map<string, Numbers>();
  readonly #listeners = new Set<(event: ReportedEvent) => void>();
  readonly #numbersListeners = new Set<(key: ObjectKey) => void>();

  /** Returns the function that ends the subscription. */
  onEvent(listener: (event: ReportedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publishEvent(event: ReportedEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Numbers of the last pass; undefined when there was none, or nothing answered. */
  numbersOf(key: ObjectKey): Numbers | undefined {
    return this.#numbers.get(formatObjectKey(key));
  }

  keepNumbers(key: ObjectKey, numbers: Numbers | undefined): void {
    const text = formatObjectKey(key);
    const before = this.#numbers.has(text);
    if (numbers === undefined) this.#numbers.delete(text);
    else this.#numbers.set(text, numbers);
    if (before !== (numbers !== undefined)) for (const listener of this.#numbersListeners) listener(key);
  }

  /** Told when numbers become known, or known no more; not at each of their changes. Returns the end of it. */
  onNumbers(listener: (key: ObjectKey) => void): () => void {
    this.#numbersListeners.add(listener);
    return () => this.#numbersListeners.delete(listener);
  }
}

/** From the primary that answers; undefined without one: an unknown number is never told as zero. */
export const numbersIn = (snapshot: RedisClusterSnapshot): Numbers | undefined => {
  const answers = Object.values(snapshot.redis).filter((facts) => facts.reachable);
  const primary = answers.find((facts) => facts.role === 'master');
  if (primary === undefined) return undefined;
  return { keys: primary.keys, offsetBytes: primary.offsetBytes, connectedReplicas: primary.connectedReplicas };
};
