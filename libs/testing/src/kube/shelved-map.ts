/**
 * A map whose entries also lie on shelves, so that those of one are found without a look at all others: a list of one kind
 * among thousands of objects of another would else make each write of these cost as much as there are.
 */
export class ShelvedMap<Value> {
  readonly #shelves = new Map<string, Map<string, Value>>();
  readonly #shelfOf: (key: string) => string;

  constructor(shelfOf: (key: string) => string) {
    this.#shelfOf = shelfOf;
  }

  get(key: string): Value | undefined {
    return this.#shelves.get(this.#shelfOf(key))?.get(key);
  }

  has(key: string): boolean {
    return this.#shelves.get(this.#shelfOf(key))?.has(key) === true;
  }

  set(key: string, value: Value): void {
    const name = this.#shelfOf(key);
    const shelf = this.#shelves.get(name) ?? new Map<string, Value>();
    this.#shelves.set(name, shelf.set(key, value));
  }

  delete(key: string): void {
    this.#shelves.get(this.#shelfOf(key))?.delete(key);
  }

  clear(): void {
    this.#shelves.clear();
  }

  onShelf(name: string): Iterable<[string, Value]> {
    return this.#shelves.get(name) ?? [];
  }

  *[Symbol.iterator](): Iterator<[string, Value]> {
    for (const shelf of this.#shelves.values()) yield* shelf;
  }
}
