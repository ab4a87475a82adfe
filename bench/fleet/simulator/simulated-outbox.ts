/**
 * One agent's status in one session, by the rules of the real outbox: first the proof that nothing has changed, all of it
 * when the hub does not say so, then only what changed, coalesced for 1 s (250 ms when the phase changes), with at
 * most so many batches unacked as the hub allows.
 */
import { chunkBySize, MAX_FRAME_BYTES, type StatusBatch } from '#protocol';
import { CLUSTERS_PER_AGENT } from '../fleet-model.ts';
import { monotonicMs } from './messages.ts';
import type { FleetTally } from './fleet-tally.ts';
import type { SimulatedObjects } from './simulated-objects.ts';

const COALESCE_MS = 1_000;
const COALESCE_PHASE_MS = 250;

export interface OutboxParts {
  readonly objects: SimulatedObjects;
  readonly window: number;
  readonly tally: FleetTally;
  readonly send: (batch: StatusBatch) => void;
  readonly onInSync: () => void;
  /** A batch was acknowledged, and nothing waits. */
  readonly onDrained: () => void;
}

interface InFlight {
  readonly items: number;
  readonly changedAtMs: readonly number[];
  readonly complete: boolean;
}

type Queued = Omit<StatusBatch, 'counter'> & { readonly changedAtMs: readonly number[] };

export class SimulatedOutbox {
  readonly #parts: OutboxParts;
  /** Slots that changed, with the time of the first change that was not told. */
  readonly #dirty = new Map<number, number>();
  readonly #inFlight = new Map<number, InFlight>();
  readonly #queue: Queued[] = [];
  #counter = 0;
  #asked = false;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Infinity;
  #pausedUntilMs = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** The first batch of a session: nothing but the digest. */
  begin(): void {
    this.#asked = true;
    this.#send({ items: [], statusDigest: this.#parts.objects.statusDigest, changedAtMs: [] });
  }

  changed(slot: number, isPhase: boolean): void {
    if (!this.#dirty.has(slot)) {
      this.#dirty.set(slot, monotonicMs());
      this.#parts.tally.statusItemsWaiting += 1;
    }
    this.#schedule(isPhase ? COALESCE_PHASE_MS : COALESCE_MS);
  }

  resendAll(): void {
    const all = Array.from({ length: CLUSTERS_PER_AGENT }, (_, slot) => slot).filter((slot) =>
      this.#parts.objects.has(slot),
    );
    this.#fill(all, true);
    this.#flush();
  }

  acknowledged(counter: number, inSync: boolean): void {
    const batch = this.#inFlight.get(counter);
    if (batch === undefined) return;
    this.#inFlight.delete(counter);
    const { tally } = this.#parts;
    tally.statusItemsAcked += batch.items;
    tally.statusItemsWaiting -= batch.changedAtMs.length;
    for (const at of batch.changedAtMs) tally.statusTook(monotonicMs() - at);
    if (this.#asked) {
      this.#asked = false;
      if (inSync) tally.statusResumed += 1;
      else return this.resendAll();
    }
    if (batch.complete || inSync) this.#parts.onInSync();
    this.#flush();
    if (this.#inFlight.size < this.#parts.window && this.#dirty.size === 0) this.#parts.onDrained();
  }

  /** All objects changed; no waiting for more of them. */
  tellAtOnce(): void {
    for (let slot = 0; slot < CLUSTERS_PER_AGENT; slot += 1) {
      if (!this.#parts.objects.has(slot) || this.#dirty.has(slot)) continue;
      this.#dirty.set(slot, monotonicMs());
      this.#parts.tally.statusItemsWaiting += 1;
    }
    this.#flush();
  }

  pause(pauseMs: number): void {
    this.#pausedUntilMs = monotonicMs() + pauseMs;
    this.#schedule(pauseMs);
  }

  /** What was not acked is told by the next session, as everything is. */
  close(): void {
    clearTimeout(this.#timer);
    const untold = [...this.#inFlight.values(), ...this.#queue].reduce((sum, one) => sum + one.changedAtMs.length, 0);
    this.#parts.tally.statusItemsWaiting -= this.#dirty.size + untold;
  }

  #schedule(afterMs: number): void {
    const dueAtMs = monotonicMs() + afterMs;
    if (dueAtMs >= this.#dueAtMs) return;
    clearTimeout(this.#timer);
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(() => {
      this.#dueAtMs = Infinity;
      this.#flush();
    }, afterMs);
  }

  #flush(): void {
    const pauseMs = this.#pausedUntilMs - monotonicMs();
    if (pauseMs > 0) return this.#schedule(pauseMs);
    if (this.#queue.length === 0 && this.#dirty.size > 0 && !this.#asked && this.#inFlight.size < this.#parts.window) {
      this.#fill([...this.#dirty.keys()], false);
    }
    while (this.#queue.length > 0 && this.#inFlight.size < this.#parts.window) {
      const batch = this.#queue.shift();
      if (batch !== undefined) this.#send(batch);
    }
  }

  #fill(slots: readonly number[], everything: boolean): void {
    const changedAtMs = [...this.#dirty.values()];
    this.#dirty.clear();
    const items = slots.map((slot) => this.#parts.objects.statusItem(slot));
    const chunks = chunkBySize(items, MAX_FRAME_BYTES / 2);
    if (chunks.length === 0) chunks.push([]);
    this.#queue.push(
      ...chunks.map((chunk, at) => ({
        items: chunk,
        changedAtMs: at === chunks.length - 1 ? changedAtMs : [],
        ...(everything && at === chunks.length - 1 ? { complete: true } : {}),
      })),
    );
  }

  #send({ changedAtMs, ...batch }: Queued): void {
    const counter = this.#counter;
    this.#counter += 1;
    this.#inFlight.set(counter, { items: batch.items.length, changedAtMs, complete: batch.complete === true });
    this.#parts.send({ counter, ...batch });
  }
}
