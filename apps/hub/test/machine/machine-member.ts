/**
 * The member cluster of a state machine run: its API server in memory, the watch that shows it later than it happened,
 * the operator's finalizers, a person with kubectl, and its own backup. What was written by whom is told to one observer.
 */
import { randomUUID } from 'node:crypto';
import { ANNOTATION, formatObjectKey } from '#domain';
import type { KubeObject, ObjectKey, RedisClusterObject } from '#domain';
import { KubeStore } from '#testing';
import type { KubeStoreDump, StoreEvent, StoreKey } from '#testing';

const COLLECTION = 'redis.atoll.dev/v1alpha1/redisclusters';
const CONFIG_MAPS = 'v1/configmaps';
const FINALIZER = 'redis.atoll.dev/finalizer';
export const NAMESPACE = 'default';

export type Writer = 'agent' | 'person' | 'operator';
export interface MemberObserver {
  wrote(event: StoreEvent, writer: Writer): void;
  /** What is there after a person put back objects, some of them as other ones. */
  putBack(live: readonly RedisClusterObject[]): void;
}

export const hubUidOf = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.annotations?.[ANNOTATION.hubUid];

const keyOf = (name: string): StoreKey => ({ collection: COLLECTION, namespace: NAMESPACE, name });
const by = (manager: string): { manager: string; operation: 'Update'; subresource: string; dryRun: boolean } => ({
  manager,
  operation: 'Update',
  subresource: '',
  dryRun: false,
});

type Entry = KubeStoreDump extends ReadonlyMap<string, infer E> ? E : never;

function withNewUid(entry: Entry | undefined): Entry | undefined {
  if (entry === undefined) return undefined;
  const { object } = entry;
  return { ...entry, object: { ...object, metadata: { ...object.metadata, uid: randomUUID() } } };
}

export class MachineMember {
  readonly store = new KubeStore();
  /** False while its API server cannot be heard. */
  synced = true;
  #writer: Writer = 'agent';
  #pending: StoreEvent[] = [];
  readonly #cache = new Map<string, RedisClusterObject>();
  readonly #listeners = new Set<(key: ObjectKey) => void>();
  #backup: KubeStoreDump | undefined;

  readonly #observer: MemberObserver;

  constructor(observer: MemberObserver) {
    this.#observer = observer;
    this.store.subscribe((event) => {
      if (event.collection !== COLLECTION) return;
      this.#pending.push(event);
      observer.wrote(event, this.#writer);
    });
  }

  /** What the agent's reflector shows. */
  readonly cache = {
    list: (): RedisClusterObject[] => [...this.#cache.values()],
    get: (key: ObjectKey): RedisClusterObject | undefined => this.#cache.get(formatObjectKey(key)),
    onChange: (listener: (key: ObjectKey) => void): (() => void) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    },
    isSynced: (): boolean => this.synced,
  };

  live(): RedisClusterObject[] {
    return this.store.list(COLLECTION, NAMESPACE) as RedisClusterObject[];
  }

  find(name: string): RedisClusterObject | undefined {
    return this.live().find((object) => object.metadata.name === name);
  }

  get pending(): number {
    return this.#pending.length;
  }

  /** The watch brings so many of the events that wait, oldest first. */
  deliverWatch(count = this.#pending.length): void {
    for (const { type, object } of this.#pending.splice(0, count)) {
      this.#show(type === 'DELETED' ? undefined : object, object);
    }
  }

  /** As a reflector that begins anew: lists, and tells what differs. */
  relist(): void {
    this.#pending = [];
    const live = new Map(this.live().map((object) => [object.metadata.name, object]));
    for (const object of this.#cache.values()) if (!live.has(object.metadata.name)) this.#show(undefined, object);
    for (const object of live.values()) this.#show(object, object);
  }

  #show(object: KubeObject | undefined, of: KubeObject): void {
    const key = { namespace: NAMESPACE, name: of.metadata.name };
    if (object === undefined) this.#cache.delete(formatObjectKey(key));
    else this.#cache.set(formatObjectKey(key), object as RedisClusterObject);
    for (const listener of [...this.#listeners]) listener(key);
  }

  #as(writer: Writer, work: () => void): void {
    this.#writer = writer;
    try {
      work();
    } finally {
      this.#writer = 'agent';
    }
  }

  /** New objects get the finalizer, deleted ones lose it. */
  operate(): void {
    this.#as('operator', () => {
      for (const { metadata } of this.live()) {
        const finalizers = metadata.deletionTimestamp === undefined ? [FINALIZER] : [];
        const change = (live: KubeObject): KubeObject => ({ ...live, metadata: { ...live.metadata, finalizers } });
        this.store.update(keyOf(metadata.name), change, by('atoll'));
      }
    });
  }

  createByHand(name: string, size: number): void {
    const object = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace: NAMESPACE, name },
      spec: { mode: 'Standalone', size },
    };
    this.#as('person', () => void this.store.create(keyOf(name), object, by('kubectl-create')));
  }

  editByHand(name: string, size: number): void {
    const change = (live: KubeObject): KubeObject => ({ ...live, spec: { ...(live['spec'] as object), size } });
    this.#as('person', () => void this.store.update(keyOf(name), change, by('kubectl-edit')));
  }

  deleteByHand(name: string): void {
    this.#as('person', () => void this.store.delete(keyOf(name)));
  }

  /** What the agent remembers over its own death. */
  loseAgentState(): boolean {
    const maps = this.store.list(CONFIG_MAPS, undefined);
    for (const { metadata } of maps)
      this.store.delete({ collection: CONFIG_MAPS, namespace: metadata.namespace, name: metadata.name });
    return maps.length > 0;
  }

  backUp(): void {
    this.#backup = this.store.dump();
  }

  /** The agent's memory says that this hubUid was deleted here. */
  remembers(hubUid: string): boolean {
    return this.store
      .list(CONFIG_MAPS, undefined)
      .some((map) =>
        String((map['data'] as { tombstones?: string } | undefined)?.tombstones).includes(`${hubUid} DELETE`),
      );
  }

  /** A person deletes it for good and puts it back from a backup, before anybody looks again. Returns the new uid. */
  replaceByHand(name: string): string | undefined {
    const found = this.find(name);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
    const entries = new Map(this.store.dump());
    const key = [...entries.keys()].find((text) => text.includes(COLLECTION) && text.includes(`"${name}"`)) ?? '';
    const renewed = withNewUid(entries.get(key));
    if (renewed === undefined) return undefined;
    this.store.restore(new Map([...entries, [key, renewed]]));
    this.#observer.putBack(this.live());
    return renewed.object.metadata.uid;
  }

  /**
   * Backup tools put back objects and leave the agent's memory as it is; what is not there any more is made anew, as another
   * object. False when there is no backup.
   */
  restoreObjects(): boolean {
    if (this.#backup === undefined) return false;
    const now = [...this.store.dump()].filter(([key]) => key.includes(CONFIG_MAPS));
    const live = new Set(this.live().map(({ metadata }) => metadata.uid));
    const then = [...this.#backup].flatMap(([key, entry]) => {
      if (key.includes(CONFIG_MAPS)) return [];
      const kept = live.has(entry.object.metadata.uid) ? entry : withNewUid(entry);
      return kept === undefined ? [] : [[key, kept] as const];
    });
    this.store.restore(new Map([...now, ...then]));
    this.#observer.putBack(this.live());
    return true;
  }

  /** False when there is no backup. */
  restore(): boolean {
    if (this.#backup === undefined) return false;
    this.store.restore(this.#backup);
    return true;
  }
}
