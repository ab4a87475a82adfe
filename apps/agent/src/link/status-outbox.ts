/**
 * Tells the hub the status of every RedisCluster, in one session. Level-triggered: it keeps which objects have changed, not
 * how, so a slow hub costs steps in between and no memory. Everything is sent once after Welcome and after StatusResync;
 * then only what differs. `gone` is said only while the cache is proven complete, or an outage of the member's API
 * server would look like deleted objects.
 */
import { ANNOTATION, formatObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import { canonicalJson, chunkBySize, statusHash } from '#protocol';
import type { StatusBatch, StatusItem } from '#protocol';
import { buildGoneItem, buildStatusItem } from './build-status-item.ts';
import type { StatusExtras } from './build-status-item.ts';
import type { RedisClusterStore } from './ports.ts';

const COALESCE_MS = 1_000;
const COALESCE_PHASE_MS = 250;

export interface StatusOutboxParts {
  readonly store: RedisClusterStore;
  readonly extrasOf: (key: ObjectKey, hubUid: string | undefined) => StatusExtras;
  readonly send: (batch: StatusBatch) => void;
  /** Batches that may be unacked. */
  readonly window: number;
  readonly maxFrameBytes: number;
}

interface Told {
  readonly item: StatusItem;
  readonly hash: string;
}

type UncountedBatch = Omit<StatusBatch, 'counter'>;

export class StatusOutbox {
  readonly #parts: StatusOutboxParts;
  readonly #dirty = new Map<string, ObjectKey>();
  readonly #told = new Map<string, Told>();
  readonly #inFlight = new Set<number>();
  #queue: UncountedBatch[] = [];
  #counter = 0;
  #owesEverything = true;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Infinity;
  #pausedUntilMs = 0;
  #closed = false;

  constructor(parts: StatusOutboxParts) {
    this.#parts = parts;
    this.#schedule(0);
  }

  /** Objects and batches that the hub has not acknowledged yet. */
  get size(): number {
    return this.#dirty.size + this.#queue.length + this.#inFlight.size;
  }

  changed(key: ObjectKey): void {
    const text = formatObjectKey(key);
    this.#dirty.set(text, { namespace: key.namespace, name: key.name });
    const phase = this.#parts.store.get(key)?.status?.phase;
    const steady = this.#told.has(text) && this.#told.get(text)?.item.phase === phase;
    this.#schedule(steady ? COALESCE_MS : COALESCE_PHASE_MS);
  }

  resendAll(): void {
    this.#owesEverything = true;
    this.#schedule(0);
  }

  acknowledged(counter: number): void {
    this.#inFlight.delete(counter);
    this.#flush();
  }

  /** The hub asks for less: nothing is sent for this long. */
  pause(pauseMs: number): void {
    this.#pausedUntilMs = performance.now() + pauseMs;
    this.#schedule(pauseMs);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(afterMs: number): void {
    const dueAtMs = performance.now() + afterMs;
    if (this.#closed || dueAtMs >= this.#dueAtMs) return;
    clearTimeout(this.#timer);
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(() => {
      this.#dueAtMs = Infinity;
      this.#flush();
    }, afterMs);
  }

  #flush(): void {
    if (this.#closed) return;
    const pauseMs = this.#pausedUntilMs - performance.now();
    if (pauseMs > 0) return this.#schedule(pauseMs);
    if (this.#queue.length === 0 && (this.#owesEverything || this.#dirty.size > 0)) this.#fill();
    while (this.#queue.length > 0 && this.#inFlight.size < this.#parts.window) this.#sendNext();
  }

  #fill(): void {
    if (!this.#parts.store.isSynced()) return this.#schedule(COALESCE_MS);
    if (this.#inFlight.size >= this.#parts.window) return;
    const everything = this.#owesEverything;
    const items = everything ? this.#collectAll() : this.#collectDirty();
    this.#owesEverything = false;
    this.#dirty.clear();
    const chunks = chunkBySize(items, this.#parts.maxFrameBytes / 2);
    if (everything && chunks.length === 0) chunks.push([]);
    this.#queue = chunks.map((chunk, at) => ({
      items: chunk,
      ...(everything && at === chunks.length - 1 ? { complete: true } : {}),
    }));
  }

  #sendNext(): void {
    const batch = this.#queue.shift();
    if (batch === undefined) return;
    const counter = this.#counter;
    this.#counter += 1;
    this.#inFlight.add(counter);
    this.#parts.send({ counter, ...batch });
  }

  #collectAll(): StatusItem[] {
    const gone = [...this.#told].filter(([, told]) => this.#parts.store.get(told.item) === undefined);
    this.#told.clear();
    const live = this.#parts.store.list().flatMap((object) => {
      const { namespace = '', name } = object.metadata;
      return this.#collect({ namespace, name }, undefined);
    });
    return [...gone.map(([, told]) => buildGoneItem(told.item)), ...live];
  }

  #collectDirty(): StatusItem[] {
    return [...this.#dirty].flatMap(([text, key]) => this.#collect(key, this.#told.get(text)));
  }

  /** What the hub does not know yet of one name: nothing, the object, its end, or the end of one and the next. */
  #collect(key: ObjectKey, told: Told | undefined): StatusItem[] {
    const text = formatObjectKey(key);
    const object = this.#parts.store.get(key);
    if (object === undefined) {
      this.#told.delete(text);
      return told === undefined ? [] : [buildGoneItem(told.item)];
    }
    const hubUid = object.metadata.annotations?.[ANNOTATION.hubUid];
    const item = buildStatusItem(object, this.#parts.extrasOf(key, hubUid));
    const hash = `${statusHash(item)} ${canonicalJson(item.details ?? {})}`;
    if (told?.hash === hash) return [];
    this.#told.set(text, { item, hash });
    const replaced = told !== undefined && identityOf(told.item) !== identityOf(item);
    return replaced ? [buildGoneItem(told.item), item] : [item];
  }
}

const identityOf = (item: StatusItem): string => item.hubUid ?? item.uid;
