/**
 * The objects here that carry a hub's annotations: the cache, corrected by our own writes that the watch has not brought
 * back yet. The digest of an acknowledgement must cover what was just written; taken from the cache alone it would
 * run behind and every ack would look like a lost object.
 */
import { formatObjectKey } from '#domain';
import type { Clock, KubeObject, ObjectKey } from '#domain';
import { digestOf } from '#protocol';
import type { ObjectVersion } from '#protocol';
import { CopyBook } from './copy-book.ts';
import { readDataSetId, readHubVersion } from './hub-version.ts';
import { leaveOutCopies } from './leave-out-copies.ts';
import type { RedisClusterStore } from './ports.ts';

/** A write that the watch has not shown after this long was undone by somebody else before we saw it. */
const FORGET_OWN_WRITE_MS = 60_000;

interface OwnWrite {
  readonly key: ObjectKey;
  /** undefined: we saw it gone. */
  readonly object: KubeObject | undefined;
  readonly uid: string | undefined;
  readonly atMs: number;
}

export interface ManagedObject extends ObjectVersion, ObjectKey {
  readonly terminating: boolean;
}

export class ManagedIndex {
  readonly #store: RedisClusterStore;
  readonly #clock: Clock;
  readonly #own = new Map<string, OwnWrite>();
  readonly #copies = new CopyBook();

  constructor(store: RedisClusterStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Starts with empty books. Returns the end of it. */
  open(): () => void {
    this.#own.clear();
    this.#copies.forget();
    // At each change, not only when asked: an object that comes and goes in between must not stay in our books.
    return this.#store.onChange((key) => {
      this.#settle(formatObjectKey(key));
      this.#noteChange(key);
    });
  }

  /** After a write of ours: the object as the server answered. */
  wrote(object: KubeObject): void {
    const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
    this.#set(key, object, object.metadata.uid);
  }

  /** After the server said that our object is gone. */
  sawGone(key: ObjectKey): void {
    this.#set(key, undefined, this.#store.get(key)?.metadata.uid);
  }

  /** True when the object of this name carries this hubUid, as far as we know. */
  holds(key: ObjectKey, hubUid: string): boolean {
    const object = this.get(key);
    return object !== undefined && readHubVersion(object)?.hubUid === hubUid;
  }

  /** The object of this name, as far as we know. */
  get(key: ObjectKey): KubeObject | undefined {
    const own = this.#own.get(formatObjectKey(key));
    return own === undefined ? this.#store.get(key) : own.object;
  }

  /** Name of another object of this namespace that holds the data set. */
  holderOf({ namespace, name }: ObjectKey, dataSetId: string): string | undefined {
    const holders = [...this.#readAll().values()].filter(
      (object) => object.metadata.namespace === namespace && readDataSetId(object) === dataSetId,
    );
    return holders.find(({ metadata }) => metadata.name !== name)?.metadata.name;
  }

  list(): ManagedObject[] {
    return leaveOutCopies(this.#readAll().values()).flatMap(toManaged);
  }

  #readAll(): Map<string, KubeObject> {
    for (const key of [...this.#own.keys()]) this.#settle(key);
    const objects = new Map<string, KubeObject>();
    for (const object of this.#store.list()) objects.set(keyOf(object), object);
    for (const [key, write] of this.#own) {
      if (write.object === undefined) objects.delete(key);
      else objects.set(key, write.object);
    }
    return objects;
  }

  /** True when an object of this hubUid is here that the hub rather means: this one is a copy of it. */
  isCopy(key: ObjectKey, hubUid: string): boolean {
    const name = formatObjectKey(key);
    return (this.#copies.nameOf(hubUid, () => this.#readAll()) ?? name) !== name;
  }

  digest(isCounted: (object: ManagedObject) => boolean): string {
    return digestOf(this.list().filter(isCounted));
  }

  #set(key: ObjectKey, object: KubeObject | undefined, uid: string | undefined): void {
    const { namespace, name } = key;
    this.#own.set(formatObjectKey(key), { key: { namespace, name }, object, uid, atMs: this.#clock.monotonicMs() });
    this.#noteChange(key);
  }

  #settle(key: string): void {
    const write = this.#own.get(key);
    if (write === undefined) return;
    const tooOld = this.#clock.monotonicMs() - write.atMs > FORGET_OWN_WRITE_MS;
    if (tooOld || hasCaughtUp(this.#store.get(write.key), write)) this.#own.delete(key);
    else return;
    this.#noteChange(write.key);
  }

  #noteChange(key: ObjectKey): void {
    this.#copies.changed(formatObjectKey(key), this.get(key));
  }
}

const keyOf = (object: KubeObject): string =>
  formatObjectKey({ namespace: object.metadata.namespace ?? '', name: object.metadata.name });

function hasCaughtUp(cached: KubeObject | undefined, write: OwnWrite): boolean {
  if (write.object === undefined) return cached === undefined || cached.metadata.uid !== write.uid;
  if (cached === undefined) return false;
  return versionOf(cached) >= versionOf(write.object);
}

/** Resource versions of one resource are whole numbers that only grow (KEP-5504). */
function versionOf(object: KubeObject): bigint {
  const text = object.metadata.resourceVersion ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
}

function toManaged(object: KubeObject): ManagedObject[] {
  const version = readHubVersion(object);
  if (version === undefined) return [];
  const { namespace = '', name, deletionTimestamp } = object.metadata;
  return [{ ...version, namespace, name, terminating: deletionTimestamp !== undefined }];
}
