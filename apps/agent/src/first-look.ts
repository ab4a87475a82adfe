/**
 * The first look at everything after a start. It begins when the picture of Kubernetes is complete: whoever was woken by a
 * list that came before the others waits for a while that is over then. When it has ended is told once, with the age of
 * the process: from then on nothing that happened while no agent ran is unseen. A look that failed counts, since it is
 * tried again like any other.
 */
import type { MemberCache } from './observe/index.ts';
import type { Log } from './platform/index.ts';

export interface FirstLookParts {
  readonly cache: Pick<MemberCache, 'whenSynced' | 'keys'>;
  /** `key` is `namespace/name`. */
  readonly wake: (key: string) => void;
  readonly log: Log;
  /** Age of the process in ms; given in tests. */
  readonly ageMs?: () => number;
}

export class FirstLook {
  readonly #parts: FirstLookParts;
  readonly #missing = new Set<string>();
  #found = 0;

  constructor(parts: FirstLookParts) {
    this.#parts = parts;
    parts.cache.whenSynced().then(
      () => this.#begin(),
      () => undefined, // the end came first
    );
  }

  /** A pass over it has ended. */
  looked(key: string): void {
    if (this.#missing.delete(key)) this.#tellAtEnd();
  }

  #begin(): void {
    const { cache, wake } = this.#parts;
    for (const key of cache.keys()) {
      this.#missing.add(key);
      wake(key);
    }
    this.#found = this.#missing.size;
    this.#tellAtEnd();
  }

  #tellAtEnd(): void {
    if (this.#missing.size > 0) return;
    const { log, ageMs = () => performance.now() } = this.#parts;
    const afterMs = Math.round(ageMs());
    log('info', 'every RedisCluster was looked at since the start', { redisClusters: this.#found, afterMs });
  }
}
