/**
 * Carries events to the hub, each once as far as it can: equal ones (object, reason, sentence, first time) are one entry with
 * the newest count. It outlives sessions, so what happened while the hub was away is told afterwards; it is bounded,
 * and the oldest go first. Events are for people; nothing depends on them.
 */
import type { EventBatch, EventItem } from '#protocol';
import type { LinkEvent } from './ports.ts';

const MAX_WAITING = 500;
const MAX_BATCH = 100;
const COALESCE_MS = 1_000;

type Send = (batch: EventBatch) => void;

export class EventOutbox {
  readonly #waiting = new Map<string, EventItem>();
  #send: Send | undefined;
  #counter = 0;
  #inFlight: ReadonlyMap<string, EventItem> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pausedUntilMs = 0;

  get size(): number {
    return this.#waiting.size;
  }

  add(event: LinkEvent): void {
    const { key, ...rest } = event;
    const item: EventItem = { ...rest, namespace: key.namespace, name: key.name };
    const text = JSON.stringify([key.namespace, key.name, event.reason, event.message, event.first]);
    this.#waiting.delete(text);
    this.#waiting.set(text, item);
    const oldest = this.#waiting.keys().next().value;
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
    this.#schedule(COALESCE_MS);
  }

  /** A session is there. */
  attach(send: Send): void {
    this.#send = send;
    this.#counter = 0;
    this.#inFlight = undefined;
    this.#schedule(COALESCE_MS);
  }

  detach(): void {
    this.#send = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  acknowledged(counter: number): void {
    if (this.#inFlight === undefined || counter !== this.#counter - 1) return;
    // An entry that was counted up meanwhile is told again.
    for (const [text, item] of this.#inFlight) if (this.#waiting.get(text) === item) this.#waiting.delete(text);
    this.#inFlight = undefined;
    if (this.#waiting.size > 0) this.#schedule(COALESCE_MS);
  }

  pause(pauseMs: number): void {
    this.#pausedUntilMs = performance.now() + pauseMs;
  }

  #schedule(afterMs: number): void {
    if (this.#send === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, afterMs).unref();
  }

  #flush(): void {
    const pauseMs = this.#pausedUntilMs - performance.now();
    if (pauseMs > 0) return this.#schedule(pauseMs);
    if (this.#send === undefined || this.#inFlight !== undefined || this.#waiting.size === 0) return;
    this.#inFlight = new Map([...this.#waiting].slice(0, MAX_BATCH));
    this.#send({ counter: this.#counter, items: [...this.#inFlight.values()] });
    this.#counter += 1;
  }
}
