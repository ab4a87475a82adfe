/**
 * Lets so many pieces of work run at once, the others in the order in which they came. What agents ask for one by one
 * goes through here: a herd would else take every connection to the database, and whoever waits for one too long fails.
 * Each is a transaction of its own, which is why it may be done again when the partition that it writes to is just being made.
 */
import { untilPartitioned } from '../../../platform/database/missing-partition.ts';

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((turn) => this.#waiting.push(turn));
    try {
      return await untilPartitioned(work);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
