/**
 * How many tokens that the hub does not know one address may have looked up: `BURST` at once, then one a second. What is
 * beyond is refused before the database is asked. Only look-ups that find nothing use it up, and tokens that were valid a
 * while ago are not counted, so people who share an address with a stranger go on.
 * Without it every guess is a query, and guesses use up the connections that tokens are looked up on.
 */
export const BURST = 20;
const PER_SECOND = 1;
/** Addresses kept at once; those that have not asked for a while go first. */
const MAX_SOURCES = 10_000;

interface Used {
  /** Look-ups that found nothing and are not forgotten yet. */
  readonly count: number;
  readonly atMs: number;
}

export class UnknownTokenBudget {
  /** The address that asked last comes last. */
  readonly #used = new Map<string, Used>();

  get size(): number {
    return this.#used.size;
  }

  /** False: this address has used up its look-ups. */
  mayLookUp(source: string, nowMs: number): boolean {
    return this.#count(source, nowMs) + 1 <= BURST;
  }

  /** A look-up for this address found nothing. */
  noteUnknown(source: string, nowMs: number): void {
    const used = { count: this.#count(source, nowMs) + 1, atMs: nowMs };
    this.#used.delete(source);
    this.#used.set(source, used);
    const [oldest] = this.#used.keys();
    if (this.#used.size > MAX_SOURCES && oldest !== undefined) this.#used.delete(oldest);
  }

  #count(source: string, nowMs: number): number {
    const used = this.#used.get(source);
    return used ? Math.max(0, used.count - ((nowMs - used.atMs) / 1_000) * PER_SECOND) : 0;
  }
}
