/**
 * How long a replica that stops waits for its database: as long as that commits within seconds. When it does not, all its
 * connections are given up, so that the stop ends within what Kubernetes leaves it. What was not committed was not
 * acknowledged; agents tell it again to another replica. Sessions whose end could not be written are closed as those of a
 * replica that was killed.
 *
 * Patience is counted in looks, not by the clock: a process that got no processor for a while must not take its own pause for
 * the database's.
 */
import type { Logger } from 'pino';

import type { DatabaseSockets } from '../database/database-sockets.ts';

const LOOK_MS = 100;
/** 4 s: longer than a slow disk takes for a commit. */
const PATIENCE_LOOKS = 40;
const PROBE_EVERY_LOOKS = 5;

export interface StopPatienceParts {
  readonly log: Logger;
  readonly sockets: DatabaseSockets;
  /** A small commit. */
  readonly probe: () => Promise<unknown>;
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
    for (let look = 0; !this.#isOver; look += 1) {
      if (look % PROBE_EVERY_LOOKS === 0 && this.#waitsSince === undefined) this.#probe(look);
      await new Promise((done) => setTimeout(done, LOOK_MS));
      if (this.#waitsSince !== undefined && look - this.#waitsSince >= PATIENCE_LOOKS) return this.#giveUp();
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
