/**
 * The queue holds keys, never events: a key added ten times is worked once, and always on what is true by then.
 * One key is never worked twice at the same time; a key added while it is being worked is worked once more afterwards.
 * At most `concurrency` keys are worked at once. Without this, two passes over one data set could act on each other's
 * half-done work. Namespaces take turns: of those with a key that waits, the one with the fewest at work is next. A tenant
 * with thousands of RedisClusters, or one that wakes without end, costs the others the wait for one pass and no more.
 */
export interface WorkQueueSettings {
  readonly concurrency: number;
  /** Works one key. It handles its own failures; what it throws all the same goes to `onCrash`. */
  readonly work: (key: string) => Promise<void>;
  readonly onCrash: (key: string, error: unknown) => void;
  /** How long the key that is begun now was due. */
  readonly onStart?: (waitedMs: number) => void;
}

interface Timer {
  readonly handle: NodeJS.Timeout;
  readonly dueAtMs: number;
}

export class KeyedWorkQueue {
  readonly #settings: WorkQueueSettings;
  /** Namespace → key → since when it is due. A Map keeps the order of arrival and merges equal keys. */
  readonly #waiting = new Map<string, Map<string, number>>();
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, Timer>();
  #stopped = false;
  #idleListeners: (() => void)[] = [];

  constructor(settings: WorkQueueSettings) {
    this.#settings = settings;
  }

  get depth(): number {
    let waiting = 0;
    for (const keys of this.#waiting.values()) waiting += keys.size;
    return waiting + this.#working.size;
  }

  add(key: string): void {
    if (this.#stopped) return;
    if (this.#working.has(key)) this.#again.add(key);
    else this.#await(key);
    this.#startNext();
  }

  /** Adds the key after `delayMs`. Of several delays of one key the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) return;
    const dueAtMs = performance.now() + delayMs;
    const present = this.#timers.get(key);
    if (present !== undefined && present.dueAtMs <= dueAtMs) return;
    if (present !== undefined) clearTimeout(present.handle);
    const handle = setTimeout(() => {
      this.#timers.delete(key);
      this.add(key);
    }, delayMs);
    this.#timers.set(key, { handle, dueAtMs });
  }

  /** Forgets what waits, and resolves when the work under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer.handle);
    this.#timers.clear();
    this.#waiting.clear();
    this.#again.clear();
    if (this.#working.size === 0) return;
    await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  #await(key: string): void {
    const namespace = namespaceOf(key);
    const keys = this.#waiting.get(namespace) ?? new Map<string, number>();
    if (!keys.has(key)) keys.set(key, performance.now());
    this.#waiting.set(namespace, keys);
  }

  #startNext(): void {
    while (this.#working.size < this.#settings.concurrency) {
      const next = this.#takeNext();
      if (next === undefined) return;
      const [key, dueAtMs] = next;
      this.#settings.onStart?.(performance.now() - dueAtMs);
      this.#working.add(key);
      void this.#work(key);
    }
  }

  /** Its namespace goes to the end of the order, so that equal ones alternate. */
  #takeNext(): readonly [key: string, dueAtMs: number] | undefined {
    const namespace = this.#chooseNamespace();
    const keys = this.#waiting.get(namespace);
    const [next] = keys ?? [];
    if (keys === undefined || next === undefined) return undefined;
    keys.delete(next[0]);
    this.#waiting.delete(namespace);
    if (keys.size > 0) this.#waiting.set(namespace, keys);
    return next;
  }

  /** Of those in which a key waits, the first with the fewest at work. */
  #chooseNamespace(): string {
    const atWork = new Map<string, number>();
    const count = (namespace: string): number => atWork.get(namespace) ?? 0;
    for (const key of this.#working) atWork.set(namespaceOf(key), count(namespaceOf(key)) + 1);
    let [chosen = ''] = this.#waiting.keys();
    for (const namespace of this.#waiting.keys()) if (count(namespace) < count(chosen)) chosen = namespace;
    return chosen;
  }

  async #work(key: string): Promise<void> {
    try {
      await this.#settings.work(key);
    } catch (error) {
      this.#settings.onCrash(key, error);
    }
    this.#working.delete(key);
    if (this.#again.delete(key)) this.#await(key);
    if (this.#working.size === 0 && this.#stopped) {
      for (const listener of this.#idleListeners) listener();
      this.#idleListeners = [];
    }
    if (!this.#stopped) this.#startNext();
  }
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(key.indexOf('/'), 0));
