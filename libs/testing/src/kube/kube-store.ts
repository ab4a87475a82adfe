/**
 * The objects of the fake API server and their history. One counter gives resourceVersions; history can be compacted, so
 * that an old watch meets 410. Finalizers, generation, status subresource, preconditions and field ownership follow
 * Kubernetes; admission, defaulting, validation and garbage collection do not exist here.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '#domain';
import { applyLeaves, bookUpdate } from './apply-object.ts';
import { leavesOf, type Manager, type Ownership, renderManagedFields } from './field-ownership.ts';
import { ShelvedMap } from './shelved-map.ts';
import { StatusError } from './status-error.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
  readonly version: number;
}

/** Where an object is kept: `collection` is `apiVersion/plural`. */
export interface StoreKey {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface WriteBy extends Manager {
  readonly dryRun: boolean;
}

interface Entry {
  object: KubeObject;
  ownership: Ownership;
}

export type KubeStoreDump = ReadonlyMap<string, Readonly<Entry>>;

const WITH_STATUS =
  /^(v1\/(pods|nodes|namespaces|services|persistentvolumeclaims)|apps\/|policy\/|redis\.atoll\.dev\/|apiextensions)/;

const keyText = (key: StoreKey): string => JSON.stringify([key.collection, key.namespace ?? '', key.name]);

const placeOf = (text: string): [string, string, string] => JSON.parse(text) as [string, string, string];

export class KubeStore {
  /** By key, on the shelves of their collections. */
  private readonly entries = new ShelvedMap<Entry>((key) => placeOf(key)[0]);
  private readonly listeners = new Set<(event: StoreEvent) => void>();
  private history: StoreEvent[] = [];
  private compactedTo = 0;
  version = 1;

  read(key: StoreKey): KubeObject {
    return structuredClone(this.entry(key).object);
  }

  list(collection: string, namespace: string | undefined): KubeObject[] {
    return [...this.entries.onShelf(collection)]
      .map(([text, entry]) => ({ place: placeOf(text), object: entry.object }))
      .filter(({ place }) => namespace === undefined || place[1] === namespace)
      .sort((a, b) => (a.place.join('/') < b.place.join('/') ? -1 : 1))
      .map(({ object }) => structuredClone(object));
  }

  /** Events after `since`; throws 410 when they are forgotten. */
  eventsSince(since: number): readonly StoreEvent[] {
    if (since < this.compactedTo) {
      throw new StatusError(410, 'Expired', `too old resource version: ${since} (${this.compactedTo})`);
    }
    return this.history.filter((event) => event.version > since);
  }

  /** Forgets all history: every watch that resumes from before now meets 410. */
  compact(): void {
    this.history = [];
    this.compactedTo = this.version;
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Everything, as a backup of etcd has it. */
  dump(): KubeStoreDump {
    return new Map([...this.entries].map(([key, entry]) => [key, copyEntry(entry)]));
  }

  /**
   * Puts back what a dump held. Versions go on from the newest one (as `etcdutl --bump-revision` makes them) and nobody who
   * watches is told: like after a real restore, watchers have to list again.
   */
  restore(dump: KubeStoreDump): void {
    this.entries.clear();
    for (const [key, entry] of dump) this.entries.set(key, copyEntry(entry));
    this.version += 1;
    this.compact();
  }

  create(key: StoreKey, object: KubeObject, by: WriteBy): KubeObject {
    if (this.entries.has(keyText(key))) {
      throw new StatusError(409, 'AlreadyExists', `${key.collection} "${key.name}" already exists`);
    }
    const { status: _status, ...rest } = object;
    const created = this.withServerMetadata(key, WITH_STATUS.test(key.collection) ? rest : object);
    const ownership: Ownership = new Map();
    bookUpdate(new Map(), leavesOf(created), ownership, by);
    return this.store(key, { object: created, ownership }, undefined, by.dryRun);
  }

  /** PUT and patches: `change` returns the wanted object from the live one. */
  update(key: StoreKey, change: (live: KubeObject) => KubeObject, by: WriteBy): KubeObject {
    const entry = this.entry(key);
    const live = entry.object;
    const wanted = change(structuredClone(live));
    const { resourceVersion, uid } = wanted.metadata;
    if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion) {
      throw new StatusError(409, 'Conflict', `the object "${key.name}" has been modified; apply your changes to it`);
    }
    if (uid !== undefined && uid !== live.metadata.uid) {
      throw new StatusError(409, 'Conflict', `Precondition failed: UID in precondition: ${uid}`);
    }
    const object = confine(key, live, wanted, by.subresource);
    const ownership = copyOwnership(entry.ownership);
    bookUpdate(leavesOf(live), leavesOf(object), ownership, by);
    return this.store(key, { object, ownership }, live, by.dryRun);
  }

  apply(key: StoreKey, object: KubeObject, by: WriteBy & { readonly force: boolean }): KubeObject {
    const entry = this.entries.get(keyText(key));
    if (entry === undefined && by.subresource !== '') throw notFound(key);
    if (object.metadata.uid !== undefined && object.metadata.uid !== entry?.object.metadata.uid) {
      throw new StatusError(409, 'Conflict', `the uid in the request is not that of the live ${key.name}`);
    }
    const identity = { apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata };
    const live = entry?.object;
    const target = structuredClone(live) ?? this.withServerMetadata(key, { ...identity, metadata: { name: key.name } });
    const ownership = copyOwnership(entry?.ownership ?? new Map());
    const { dryRun, force, ...manager } = by;
    applyLeaves(target, ownership, leavesOf(applied(key, object, by.subresource)), { manager, force });
    return this.store(key, { object: target, ownership }, live, dryRun);
  }

  /** Marks or removes; returns the object as it was left. */
  delete(key: StoreKey, preconditions: { readonly uid?: string; readonly resourceVersion?: string } = {}): KubeObject {
    const { object, ownership } = this.entry(key);
    for (const [name, wanted] of Object.entries(preconditions)) {
      const found = object.metadata[name as 'uid' | 'resourceVersion'];
      if (wanted !== found) {
        throw new StatusError(
          409,
          'Conflict',
          `Precondition failed: ${name} in precondition: ${wanted}, found: ${found}`,
        );
      }
    }
    if ((object.metadata.finalizers ?? []).length === 0) return this.remove(key, object);
    if (object.metadata.deletionTimestamp !== undefined) return structuredClone(object);
    const metadata = { ...object.metadata, deletionTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
    return this.store(key, { object: { ...object, metadata }, ownership }, object, false);
  }

  private entry(key: StoreKey): Entry {
    const entry = this.entries.get(keyText(key));
    if (entry === undefined) throw notFound(key);
    return entry;
  }

  private withServerMetadata(key: StoreKey, object: KubeObject): KubeObject {
    const metadata = {
      ...object.metadata,
      name: key.name,
      ...(key.namespace !== undefined && { namespace: key.namespace }),
      uid: randomUUID(),
      generation: 1,
      creationTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    };
    return { ...structuredClone(object), metadata };
  }

  private store(key: StoreKey, entry: Entry, live: KubeObject | undefined, dryRun: boolean): KubeObject {
    const object = withoutNoise(entry.object);
    if (live !== undefined && isDeepStrictEqual(withoutVersions(object), withoutVersions(live))) {
      if (!dryRun) this.entries.set(keyText(key), { object: live, ownership: entry.ownership });
      return structuredClone(live);
    }
    const version = this.version + 1;
    const stored = withVersions({ ...entry, object }, live, version);
    if (dryRun) return stored;
    if (live !== undefined && isLetGo(stored)) return this.remove(key, stored);
    this.version = version;
    this.entries.set(keyText(key), { object: stored, ownership: entry.ownership });
    this.publish(key, live === undefined ? 'ADDED' : 'MODIFIED', stored, live);
    return structuredClone(stored);
  }

  private remove(key: StoreKey, object: KubeObject): KubeObject {
    this.version += 1;
    this.entries.delete(keyText(key));
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
    this.publish(key, 'DELETED', gone, object);
    return structuredClone(gone);
  }

  private publish(key: StoreKey, type: StoreEvent['type'], object: KubeObject, previous: KubeObject | undefined): void {
    const event = { type, collection: key.collection, object, previous, version: this.version };
    this.history.push(event);
    for (const listener of [...this.listeners]) listener(event);
  }
}

const isLetGo = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;

function withVersions({ object, ownership }: Entry, live: KubeObject | undefined, version: number): KubeObject {
  const specChanged = live !== undefined && !isDeepStrictEqual(specOf(object), specOf(live));
  const generation = (live?.metadata.generation ?? 1) + (specChanged ? 1 : 0);
  const managedFields = renderManagedFields(ownership, object.apiVersion);
  return { ...object, metadata: { ...object.metadata, generation, managedFields, resourceVersion: String(version) } };
}

const notFound = (key: StoreKey): StatusError =>
  new StatusError(404, 'NotFound', `${key.collection} "${key.name}" not found`);

const copyEntry = ({ object, ownership }: Readonly<Entry>): Entry => ({
  object: structuredClone(object),
  ownership: copyOwnership(ownership),
});

const copyOwnership = (ownership: Ownership): Ownership =>
  new Map([...ownership].map(([manager, paths]) => [manager, new Set(paths)]));

const specOf = ({ metadata: _metadata, status: _status, ...rest }: KubeObject): unknown => rest;

const withoutVersions = (object: KubeObject): unknown => {
  const { resourceVersion: _version, managedFields: _managed, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
};

const withoutNoise = (object: KubeObject): KubeObject => JSON.parse(JSON.stringify(object)) as KubeObject;

/** A write to the object leaves its status alone, and one to its status leaves the rest alone. */
function confine(key: StoreKey, live: KubeObject, wanted: KubeObject, subresource: string): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, generation } = live.metadata;
  if (subresource === 'status') return { ...live, status: wanted['status'] };
  const kept = { uid, creationTimestamp, deletionTimestamp, generation };
  const metadata = { ...wanted.metadata, ...kept, name: key.name } as KubeObject['metadata'];
  return { ...wanted, metadata, ...(WITH_STATUS.test(key.collection) && { status: live['status'] }) };
}

function applied(key: StoreKey, object: KubeObject, subresource: string): KubeObject {
  const { status, ...rest } = object;
  const { apiVersion, kind, metadata } = object;
  if (subresource === 'status') return { apiVersion, kind, metadata: { name: metadata.name }, status };
  return WITH_STATUS.test(key.collection) ? rest : object;
}
