/**
 * Tells the hub the status of every RedisCluster, in one session. Level-triggered: it keeps which objects have changed, not
 * how, and builds an item when its batch goes out, so a slow hub costs steps in between and no memory. A session begins
 * with the proof that nothing changed (the sum of all hashes); a hub that does not say `inSync` is told everything, as after
 * StatusResync; then only what differs. `gone` is said, and the proof taken, only while the cache is proven complete, or an
 * outage of the member's API server would look like deleted objects.
 */
import { formatObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import { itemHash, statusDigestOf } from '#protocol';
import type { GuestItem, StatusBatch, StatusItem } from '#protocol';
import { buildGoneItem, buildStatusItem } from './build-status-item.ts';
import type { StatusExtras } from './build-status-item.ts';
import { fitStatusItem } from './fit-status-item.ts';
import type { GuestNumbers } from './guest-numbers.ts';
import { readHubVersion } from './hub-version.ts';
import type { RedisClusterStore } from './ports.ts';

const COALESCE_MS = 1_000;
const COALESCE_PHASE_MS = 250;
/** Timers may fire this much early. */
const TIMER_SLACK_MS = 2;

export interface StatusOutboxParts {
  readonly store: RedisClusterStore;
  readonly extrasOf: (key: ObjectKey, hubUid: string | undefined) => StatusExtras;
  /** Numbers beside the items; absent where no other agent pushes. */
  readonly guests?: GuestNumbers;
  readonly send: (batch: StatusBatch) => void;
  /** Batches that may be unacked. */
  readonly window: number;
  readonly maxFrameBytes: number;
}

/** What was told last of one name: enough to know a change, and to tell its end. */
type Told = Pick<StatusItem, 'hubUid' | 'namespace' | 'name' | 'uid' | 'kind' | 'phase'> & {
  readonly hash: string;
  readonly hasNumbers: boolean;
};

type UncountedBatch = Omit<StatusBatch, 'counter'>;

export class StatusOutbox {
  readonly #parts: StatusOutboxParts;
  readonly #told = new Map<string, Told>();
  readonly #dirty = new Map<string, ObjectKey>();
  #dirtyDueAtMs = Infinity;
  /** What a full resend has still to tell; undefined when none is under way. */
  #resend: Map<string, ObjectKey> | undefined;
  /** Items that found no room in the last batch. */
  #carried: StatusItem[] = [];
  readonly #inFlight = new Set<number>();
  #counter = 0;
  #proof: 'OWED' | 'DONE' | { readonly counter: number } = 'OWED';
  #timer: NodeJS.Timeout | undefined;
  #timerDueAtMs = Infinity;
  #pausedUntilMs = 0;
  #closed = false;

  constructor(parts: StatusOutboxParts) {
    this.#parts = parts;
    this.#schedule(0);
  }

  /** Objects and batches that the hub has not acknowledged yet. */
  get size(): number {
    return this.#dirty.size + (this.#resend?.size ?? 0) + this.#carried.length + this.#inFlight.size;
  }

  changed(key: ObjectKey): void {
    const phase = this.#parts.store.get(key)?.status?.phase;
    const told = this.#told.get(formatObjectKey(key));
    this.#note(key, told !== undefined && told.phase === phase ? COALESCE_MS : COALESCE_PHASE_MS);
  }

  /** What items say beside their objects may have changed for any of them. */
  recheckAll(): void {
    for (const key of this.#allKeys().values()) this.#note(key, 0);
  }

  resendAll(): void {
    this.#proof = 'DONE';
    this.#resend = this.#allKeys();
    this.#schedule(0);
  }

  /** `inSync`: the hub has stored just what the proof covered. */
  acknowledged(counter: number, inSync = false): void {
    this.#inFlight.delete(counter);
    if (typeof this.#proof === 'object' && this.#proof.counter === counter) {
      if (inSync) this.#proof = 'DONE';
      else this.resendAll();
    }
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

  #note(key: ObjectKey, coalesceMs: number): void {
    this.#dirty.set(formatObjectKey(key), { namespace: key.namespace, name: key.name });
    this.#dirtyDueAtMs = Math.min(this.#dirtyDueAtMs, performance.now() + coalesceMs);
    this.#schedule(coalesceMs);
  }

  #schedule(afterMs: number): void {
    const dueAtMs = performance.now() + afterMs;
    if (this.#closed || dueAtMs >= this.#timerDueAtMs) return;
    clearTimeout(this.#timer);
    this.#timerDueAtMs = dueAtMs;
    this.#timer = setTimeout(() => {
      this.#timerDueAtMs = Infinity;
      this.#flush();
    }, afterMs);
  }

  #flush(): void {
    if (this.#closed) return;
    const pauseMs = this.#pausedUntilMs - performance.now();
    if (pauseMs > 0) return this.#schedule(pauseMs);
    while (this.#inFlight.size < this.#parts.window) {
      const batch = this.#nextBatch();
      if (batch === undefined) return;
      const counter = this.#counter;
      this.#counter += 1;
      this.#inFlight.add(counter);
      if (batch.statusDigest !== undefined) this.#proof = { counter };
      this.#parts.send({ counter, ...batch });
    }
  }

  #nextBatch(): UncountedBatch | undefined {
    const inMs = this.#workInMs();
    if (inMs > 0 || !this.#parts.store.isSynced()) {
      if (inMs < Infinity) this.#schedule(inMs > 0 ? inMs : COALESCE_MS);
      return undefined;
    }
    if (this.#proof === 'OWED') return { items: [], statusDigest: this.#proveAll() };
    return this.#resend === undefined ? this.#nextChanges() : this.#nextOfAll(this.#resend);
  }

  #workInMs(): number {
    if (this.#proof === 'OWED' || this.#resend !== undefined || this.#carried.length > 0) return 0;
    return Math.max(0, this.#dirtyDueAtMs - TIMER_SLACK_MS - performance.now());
  }

  #nextChanges(): UncountedBatch | undefined {
    const told = this.#collect(this.#dirty, false);
    if (this.#dirty.size === 0) this.#dirtyDueAtMs = Infinity;
    return told.items.length === 0 && told.guests === undefined ? undefined : told;
  }

  #nextOfAll(all: Map<string, ObjectKey>): UncountedBatch {
    const told = this.#collect(all, true);
    if (all.size > 0 || this.#carried.length > 0) return told;
    this.#resend = undefined;
    return { ...told, complete: true };
  }

  /** The digest over everything, which counts as told from here on. */
  #proveAll(): string {
    this.#dirty.clear();
    this.#dirtyDueAtMs = Infinity;
    for (const key of this.#allKeys().values()) this.#tell(key, true);
    // In no digest, so the proof says nothing of them.
    for (const key of this.#parts.guests?.keys() ?? []) this.#note(key, COALESCE_MS);
    return statusDigestOf([...this.#told.values()].map(({ hash }) => hash));
  }

  /** Takes from `keys` what goes into one frame. Half a frame is left for what JSON and UTF-8 make of it. */
  #collect(keys: Map<string, ObjectKey>, everything: boolean): Pick<StatusBatch, 'items' | 'guests'> {
    const items = this.#carried;
    const guests: GuestItem[] = [];
    this.#carried = [];
    let bytes = items.reduce((sum, item) => sum + bytesOf(item), 0);
    for (const [text, key] of keys) {
      keys.delete(text);
      const more = this.#tell(key, everything);
      const guest = this.#parts.guests?.tell(key, everything);
      if (guest !== undefined) guests.push(guest);
      bytes += [...more, ...(guest === undefined ? [] : [guest])].reduce((sum, item) => sum + bytesOf(item), 0);
      if (items.length + guests.length > 0 && bytes > this.#parts.maxFrameBytes / 2) {
        this.#carried = more;
        break;
      }
      items.push(...more);
    }
    return guests.length === 0 ? { items } : { items, guests };
  }

  /** What the hub does not know yet of one name: nothing, the object, its end, or the end of one and the next. */
  #tell(key: ObjectKey, everything: boolean): StatusItem[] {
    const text = formatObjectKey(key);
    const told = this.#told.get(text);
    const object = this.#parts.store.get(key);
    if (object === undefined) {
      this.#told.delete(text);
      return told === undefined ? [] : [buildGoneItem(told)];
    }
    const whole = buildStatusItem(object, this.#parts.extrasOf(key, readHubVersion(object)?.hubUid));
    const item = fitStatusItem(whole, this.#parts.maxFrameBytes / 2, object.metadata.creationTimestamp ?? '');
    const hash = itemHash(item);
    const now = toTold(item, hash);
    if (told !== undefined && isSame(told, now) && !everything) return [];
    this.#told.set(text, now);
    const isReplaced = told !== undefined && identityOf(told) !== identityOf(item);
    return [...(isReplaced ? [buildGoneItem(told)] : []), { ...item, hash }];
  }

  /** Everything that is here or was told. */
  #allKeys(): Map<string, ObjectKey> {
    const keys = new Map<string, ObjectKey>();
    for (const [text, { namespace, name }] of this.#told) keys.set(text, { namespace, name });
    for (const { metadata } of this.#parts.store.list()) {
      const key = { namespace: metadata.namespace ?? '', name: metadata.name };
      keys.set(formatObjectKey(key), key);
    }
    for (const key of this.#parts.guests?.keys() ?? []) keys.set(formatObjectKey(key), key);
    return keys;
  }
}

const isSame = (a: Told, b: Told): boolean => a.hash === b.hash && a.hasNumbers === b.hasNumbers;

const identityOf = (told: Pick<StatusItem, 'hubUid' | 'uid'>): string => told.hubUid ?? told.uid;

const bytesOf = (item: StatusItem | GuestItem): number => Buffer.byteLength(JSON.stringify(item), 'utf8') + 1;

const toTold = ({ hubUid, namespace, name, uid, kind, phase, numbers }: StatusItem, hash: string): Told => ({
  ...(hubUid === undefined ? {} : { hubUid }),
  ...(phase === undefined ? {} : { phase }),
  namespace,
  name,
  uid,
  kind,
  hash,
  hasNumbers: numbers !== undefined,
});
