/** What was noted for a key until a time, for at most `room` keys: the one that was noted first goes first. */
export class RecentKeys<Value> {
  readonly #room: number;
  readonly #kept = new Map<string, { readonly value: Value; readonly untilMs: number }>();

  constructor(room: number) {
    this.#room = room;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string, nowMs: number): Value | undefined {
    const kept = this.#kept.get(key);
    if (kept && kept.untilMs > nowMs) return kept.value;
    this.#kept.delete(key);
    return undefined;
  }

  note(key: string, value: Value, untilMs: number): void {
    this.#kept.delete(key);
    this.#kept.set(key, { value, untilMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#room && oldest !== undefined) this.#kept.delete(oldest);
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }
}
