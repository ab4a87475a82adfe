/**
 * What a reflector keeps: one projection per object. A complete list replaces everything and tells what vanished; an
 * object whose projection fails keeps its last one, because absence would read as deletion.
 */
import type { KubeObject } from '#domain';

export type ChangeListener<P> = (key: string, projection: P | undefined, previous: P | undefined) => void;

export interface ProjectionCache<P> {
  readonly entries: ReadonlyMap<string, P>;
  set(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** Collects the pages of one list; nothing is told as vanished before `finish`. */
  beginList(): { add(object: KubeObject): void; finish(): void };
}

/** `namespace/name`, or `name` for cluster-wide objects. */
export const keyOf = ({ metadata }: KubeObject): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

export interface ProjectionCacheOptions<P> {
  readonly project: (object: KubeObject) => P | undefined;
  readonly onChange: ChangeListener<P> | undefined;
  /** A projection or listener threw: a bug in the caller, which must not stop the cache. */
  readonly onBug: (error: unknown) => void;
}

export function createProjectionCache<P>(options: ProjectionCacheOptions<P>): ProjectionCache<P> {
  const entries = new Map<string, P>();
  const guarded = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      options.onBug(error);
    }
  };
  const store = (key: string, projection: P | undefined): void => {
    const previous = entries.get(key);
    if (projection === undefined) entries.delete(key);
    else entries.set(key, projection);
    if (projection === undefined && previous === undefined) return;
    guarded(() => options.onChange?.(key, projection, previous));
  };
  const set = (object: KubeObject): void => {
    guarded(() => store(keyOf(object), options.project(object)));
  };
  return {
    entries,
    set,
    remove: (object) => store(keyOf(object), undefined),
    beginList() {
      const present = new Set<string>();
      return {
        add(object) {
          present.add(keyOf(object));
          set(object);
        },
        finish() {
          for (const key of [...entries.keys()]) if (!present.has(key)) store(key, undefined);
        },
      };
    },
  };
}
