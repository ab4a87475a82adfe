/**
 * Those who wait for admission, one line a source, and whose turn it is: each source has one turn a round, and its oldest
 * goes first. Every step takes the same time whatever the number of sources, since a flood comes from many as well.
 */
export class AdmissionLines<T> {
  /** The order of the map is that of the turns. */
  readonly #lines = new Map<string, T[]>();
  /** Sources by the length of their line. */
  readonly #byLength = new Map<number, Set<string>>();
  #length = 0;
  #longest = 0;

  /** All who wait. */
  get length(): number {
    return this.#length;
  }

  get sources(): number {
    return this.#lines.size;
  }

  /** Length of the longest line; 0 when nobody waits. */
  get longest(): number {
    return this.#longest;
  }

  /** One of the sources whose line is the longest. */
  get longestSource(): string | undefined {
    return this.#byLength.get(this.#longest)?.values().next().value;
  }

  /** The source whose turn it is. */
  get next(): string | undefined {
    return this.#lines.keys().next().value;
  }

  lengthOf(source: string): number {
    return this.#lines.get(source)?.length ?? 0;
  }

  /** At the end of its source's line. A new source has its turn after those that wait. */
  add(source: string, one: T): void {
    const line = this.#lines.get(source) ?? [];
    line.push(one);
    this.#lines.set(source, line);
    this.#note(source, line.length - 1, line.length);
  }

  /** Takes the oldest of a source, whose turn stays as it is. */
  takeOldest(source: string): T | undefined {
    return this.#take(source, (line) => line.shift());
  }

  /** Takes the one of a source that has waited least. */
  takeNewest(source: string): T | undefined {
    return this.#take(source, (line) => line.pop());
  }

  /** The source has had its turn: all others come before it. */
  passTurn(source: string): void {
    const line = this.#lines.get(source);
    if (line === undefined) return;
    this.#lines.delete(source);
    this.#lines.set(source, line);
  }

  #take(source: string, take: (line: T[]) => T | undefined): T | undefined {
    const line = this.#lines.get(source);
    const one = line && take(line);
    if (line === undefined || one === undefined) return undefined;
    if (line.length === 0) this.#lines.delete(source);
    this.#note(source, line.length + 1, line.length);
    return one;
  }

  #note(source: string, before: number, now: number): void {
    this.#length += now - before;
    const left = this.#byLength.get(before);
    left?.delete(source);
    if (left?.size === 0) this.#byLength.delete(before);
    if (now > 0) this.#byLength.set(now, (this.#byLength.get(now) ?? new Set()).add(source));
    // Lines change by one: when the longest was the only one of its length, it is now the longest by one less.
    if (now > this.#longest || !this.#byLength.has(this.#longest)) this.#longest = now;
  }
}
