/**
 * How long a replica that stops waits for its database: as long as any of its commits ends within seconds, one of status or a
 * small one that is asked for all the time. When none does, all its connections are given up, so that the stop ends within
 * what Kubernetes leaves it; not for a stall of a few seconds, which would cut off all who were given their time to go. What
 * was not committed was not acknowledged; agents tell it again to another replica. Sessions whose end could not be written are
 * closed as those of a replica that was killed.
 *
 * Patience is counted in looks, not by the clock: a process that got no processor for a while must not take its own pause for
 * the database's.
 */
import type { Logger } from 'pino';

import type { DatabaseSockets } from '../database/database-sockets.ts';

const LOOK_MS = 100;
/** 10 s: longer than a disk that is only busy stalls. With the 2 s for open sockets the stop still ends within 20 s. */
const PATIENCE_LOOKS = 100;
const PROBE_EVERY_LOOKS = 5;

export interface StopPatienceParts {
  readonly log: Logger;
  readonly sockets: DatabaseSockets;
  /** A small commit, that waits for nothing but the database: neither for a lock nor for a connection of the pool. */
  readonly probe: () => Promise<unknown>;
  /** How many commits of this replica have ended well so far. */
  readonly countCommits: () => number;
}

export class StopPatience {
  readonly #parts: StopPatienceParts;
  #isOver = false;
  #waitsSince: number | undefined;

  constructor(parts: StopPatienceParts) {
    this.#parts = parts;
  }

  /** The stop begins. Rejects never. */
  async begin(): Promise<void> {
    let counted = this.#parts.countCommits();
    for (let look = 0; !this.#isOver; look += 1) {
      if (look % PROBE_EVERY_LOOKS === 0 && this.#waitsSince === undefined) this.#probe(look);
      await new Promise((done) => setTimeout(done, LOOK_MS));
      if (this.#waitsSince === undefined) continue;
      const count = this.#parts.countCommits();
      if (count !== counted) this.#waitsSince = look;
      counted = count;
      if (look - this.#waitsSince >= PATIENCE_LOOKS) return this.#giveUp();
    }
  }

  /** The stop needs the database no more. */
  end(): void {
    this.#isOver = true;
  }

  #probe(look: number): void {
    this.#waitsSince = look;
    // A database that refuses fails all others as well: there is nothing to wait for.
    void this.#parts
      .probe()
      .catch(() => undefined)
      .finally(() => (this.#waitsSince = undefined));
  }

  #giveUp(): void {
    if (this.#isOver) return;
    this.#parts.log.error(
      { code: 'DATABASE_GIVEN_UP' },
      'the database does not commit, and this replica has to stop: it ends its connections. Nothing acknowledged is lost; agents tell the rest to another replica',
    );
    this.#parts.sockets.giveUp();
  }
}
