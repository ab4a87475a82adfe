/**
 * The queue holds keys, never events: a key added ten times is worked once, and always on what is true by then.
 * One key is never worked twice at the same time; a key added while it is being worked is worked once more afterwards.
 * At most `concurrency` keys are worked at once. Without this, two passes over one data set could act on each other's
 * half-done work.
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
  /** Key → since when it is due. A Map keeps the order of arrival and merges equal keys. */
  readonly #waiting = new Map<string, number>();
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, Timer>();
  #stopped = false;
  #idleListeners: (() => void)[] = [];

  constructor(settings: WorkQueueSettings) {
    this.#settings = settings;
  }

  get depth(): number {
    return this.#waiting.size + this.#working.size;
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
    if (!this.#waiting.has(key)) this.#waiting.set(key, performance.now());
  }

  #startNext(): void {
    for (const [key, dueAtMs] of this.#waiting) {
      if (this.#working.size >= this.#settings.concurrency) return;
      this.#waiting.delete(key);
      this.#settings.onStart?.(performance.now() - dueAtMs);
      this.#working.add(key);
      void this.#work(key);
    }
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
