/**
 * What happens between Welcome and the end of a session: desired state in, status, events and heartbeats out. Nothing is
 * counted, compared or applied before the cache is complete, since an empty cache looks like deleted objects.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import type { Delta, SnapshotBegin, SnapshotChunk, SnapshotEnd, Welcome } from '#protocol';
import type { Connection } from './connection.ts';
import type { DesiredParts } from './desired-parts.ts';
import { DesiredProcessor } from './desired-processor.ts';
import type { StatusExtras } from './build-status-item.ts';
import type { EventOutbox } from './event-outbox.ts';
import { type GuestParts, GuestNumbers } from './guest-numbers.ts';
import { readHubVersion } from './hub-version.ts';
import { isUnclaimed } from './is-counted-in-digest.ts';
import type { RedisClusterStore } from './ports.ts';
import { SnapshotReceiver } from './snapshot-receiver.ts';
import { StatusOutbox } from './status-outbox.ts';

const RETRY_WAITING_MS = 15_000;
const LOOK_AT_STORE_MS = 250;

export interface WelcomedParts extends GuestParts {
  readonly welcome: Welcome;
  /** The spec digest that the Hello said. */
  readonly helloDigest: string;
  readonly connection: Connection;
  readonly desired: DesiredParts;
  readonly store: RedisClusterStore;
  readonly events: EventOutbox;
  /** Another definition of RedisCluster is served than the one that the Hello told. */
  readonly definitionChanged: () => boolean;
}

type Enqueue = (work: () => Promise<void> | void) => void;

export class WelcomedSession {
  readonly events: EventOutbox;
  readonly status: StatusOutbox;
  readonly #parts: WelcomedParts;
  readonly #processor: DesiredProcessor;
  readonly #snapshot: SnapshotReceiver;
  readonly #held = new Map<string, { readonly hubUid: string; readonly hubGeneration: number }>();
  readonly #timers: NodeJS.Timeout[] = [];
  #unsubscribe: () => void = () => undefined;
  #toldSynced: boolean;

  constructor(parts: WelcomedParts) {
    this.#parts = parts;
    const { welcome, connection, store, desired } = parts;
    this.#processor = new DesiredProcessor(desired, welcome.mode === 'DELTA' ? parts.helloDigest : undefined);
    this.#snapshot = new SnapshotReceiver(desired, this.#processor);
    this.#toldSynced = store.isSynced();
    this.events = parts.events;
    this.events.attach((batch) => connection.send('EventBatch', batch));
    this.status = new StatusOutbox({
      store,
      extrasOf: (key, hubUid) => this.#extrasOf(key, hubUid),
      guests: new GuestNumbers(parts),
      send: (batch) => connection.send('StatusBatch', batch),
      window: welcome.limits.statusWindow,
      maxFrameBytes: desired.maxFrameBytes,
    });
    this.#timers.push(
      setInterval(() => this.#beat(), welcome.limits.heartbeatIntervalMs),
      setInterval(() => this.#lookAtStore(), LOOK_AT_STORE_MS),
    );
    for (const object of store.list())
      this.#hold({ namespace: object.metadata.namespace ?? '', name: object.metadata.name });
  }

  get waitingObjects(): number {
    return this.#processor.waitingObjects;
  }

  /** Follows the cache; work on the member cluster goes through the session's chain. */
  onStoreChange(enqueue: Enqueue): void {
    this.#unsubscribe = this.#parts.store.onChange((key) => {
      this.status.changed(key);
      this.#noticeDeletion(key, enqueue);
      if (this.#processor.waitsFor(key)) enqueue(() => this.#processor.retryWaiting(key));
    });
    const retry = setInterval(() => {
      if (this.#processor.waitingObjects > 0) enqueue(() => this.#processor.retryWaiting());
      enqueue(() => {
        if (this.#parts.store.isSynced()) this.#processor.tellDigest();
      });
    }, RETRY_WAITING_MS);
    this.#timers.push(retry);
  }

  /** Told before any object: what is here, when the hub must compare. */
  async begin(): Promise<void> {
    // The cache may have become complete since the Hello.
    this.#heartbeat();
    if (this.#parts.welcome.mode !== 'INVENTORY') return;
    await this.#untilSynced();
    this.#snapshot.sendInventory();
  }

  async delta(delta: Delta, nonce: string): Promise<void> {
    await this.#untilSynced();
    await this.#processor.applyDelta(delta, nonce);
  }

  snapshotBegin(begin: SnapshotBegin): void {
    this.#snapshot.begin(begin);
  }

  async snapshotChunk(chunk: SnapshotChunk): Promise<void> {
    await this.#untilSynced();
    await this.#snapshot.addChunk(chunk);
  }

  async snapshotEnd(end: SnapshotEnd, nonce: string): Promise<void> {
    await this.#untilSynced();
    // What is UNCLAIMED is part of the status.
    if (await this.#snapshot.end(end, nonce)) this.status.recheckAll();
  }

  slow(pauseMs: number): void {
    this.status.pause(pauseMs);
    this.events.pause(pauseMs);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#unsubscribe();
    this.status.close();
    this.events.detach();
  }

  #extrasOf(key: ObjectKey, hubUid: string | undefined): StatusExtras {
    const numbers = this.#parts.numbersOf(key);
    if (hubUid !== undefined && this.#parts.desired.index.isCopy(key, hubUid)) {
      return { unclaimed: false, isCopy: true, ...(numbers === undefined ? {} : { numbers }) };
    }
    const terminating = this.#parts.store.get(key)?.metadata.deletionTimestamp !== undefined;
    const unclaimed = hubUid !== undefined && isUnclaimed(this.#parts.desired.state.current, { hubUid, terminating });
    return { unclaimed, ...(numbers === undefined ? {} : { numbers }) };
  }

  /** What the hub withholds depends on the definition here, which it hears of in a Hello alone (03 rule 14). */
  #beat(): void {
    this.#heartbeat();
    if (!this.#parts.definitionChanged()) return;
    this.#parts.connection.close('the definition of RedisCluster has changed here; the hub is told by a new Hello');
  }

  #heartbeat(): void {
    this.#toldSynced = this.#parts.store.isSynced();
    this.#parts.connection.send('Heartbeat', { inventory: this.#toldSynced ? 'SYNCED' : 'UNKNOWN' });
  }

  /** An API server that goes or comes back is told at once, not at the next heartbeat. */
  #lookAtStore(): void {
    if (this.#parts.store.isSynced() !== this.#toldSynced) this.#heartbeat();
  }

  async #untilSynced(): Promise<void> {
    while (!this.#parts.store.isSynced()) {
      await sleep(LOOK_AT_STORE_MS, undefined, { signal: this.#parts.desired.signal });
    }
    // First the hub hears that digests count again, then the ack that carries one.
    this.#lookAtStore();
  }

  #hold(key: ObjectKey): void {
    const object = this.#parts.store.get(key);
    const version = object === undefined ? undefined : readHubVersion(object);
    const text = formatObjectKey(key);
    if (version === undefined || this.#parts.desired.index.isCopy(key, version.hubUid)) this.#held.delete(text);
    else this.#held.set(text, version);
  }

  #noticeDeletion(key: ObjectKey, enqueue: Enqueue): void {
    const { store, desired } = this.#parts;
    const before = this.#held.get(formatObjectKey(key));
    this.#hold(key);
    if (before === undefined || store.get(key) !== undefined) return;
    enqueue(async () => {
      await this.#untilSynced();
      const { tombstones, unclaimed } = desired.state.current;
      // Ours by a tombstone, not the hub's at all, or back again by now.
      if (tombstones.has(before.hubUid) || unclaimed.has(before.hubUid) || store.get(key) !== undefined) return;
      this.#processor.tellDeletedLocally(before.hubUid, before.hubGeneration);
    });
  }
}
