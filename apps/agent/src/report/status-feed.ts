/**
 * Hands each new status, and each event, to whoever tells others: the link to the hub. It keeps the newest report of
 * each RedisCluster, so that a new session can be told everything at once. It is not a queue: a listener that is slow
 * loses nothing but the steps in between.
 */
import { formatObjectKey } from '#domain';
import type { ObjectKey, RedisClusterObject } from '#domain';

export interface StatusReport {
  readonly key: ObjectKey;
  /** The object with its newest status and its managed fields; absent when the object is gone. */
  readonly resource?: RedisClusterObject;
  /** Moving numbers by name, for instance `memoryBytes`; not part of the status. */
  readonly numbers?: Readonly<Record<string, number>>;
}

export interface ReportedEvent {
  readonly key: ObjectKey;
  readonly hubUid?: string;
  readonly severity: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

type Listener<T> = (value: T) => void;

export class StatusFeed {
  readonly #reports = new Map<string, StatusReport>();
  readonly #statusListeners = new Set<Listener<StatusReport>>();
  readonly #eventListeners = new Set<Listener<ReportedEvent>>();

  /** Every RedisCluster that exists, as last reported. */
  current(): StatusReport[] {
    return [...this.#reports.values()];
  }

  find(key: ObjectKey): StatusReport | undefined {
    return this.#reports.get(formatObjectKey(key));
  }

  publish(report: StatusReport): void {
    const key = formatObjectKey(report.key);
    if (report.resource === undefined) this.#reports.delete(key);
    else this.#reports.set(key, report);
    for (const listener of this.#statusListeners) listener(report);
  }

  publishEvent(event: ReportedEvent): void {
    for (const listener of this.#eventListeners) listener(event);
  }

  /** Returns the function that ends the subscription. */
  onStatus(listener: Listener<StatusReport>): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  onEvent(listener: Listener<ReportedEvent>): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }
}
