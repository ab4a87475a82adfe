/**
 * Notices on each new connection that the database behind the address is another one than before: restored, or failed
 * over to another timeline (03 rule 8). A pool that only looked at start would go on speaking for the old lineage.
 */
import type { Client } from 'pg';

import { type DatabaseLineage, isSameLineage, READ_LINEAGE } from './hub-identity.ts';

export class LineageGuard {
  #known: DatabaseLineage | undefined;
  #onChange: () => void = () => undefined;

  /** Called once per change, after the connection is usable. */
  onChange(callback: () => void): void {
    this.#onChange = callback;
  }

  /** For pg's pool: runs on each new connection before anybody gets it. */
  verify(client: Client, done: (error?: Error) => void): void {
    client.query<DatabaseLineage>(READ_LINEAGE).then(
      ({ rows: [lineage] }) => {
        const changed = lineage !== undefined && this.#known !== undefined && !isSameLineage(lineage, this.#known);
        this.#known = lineage ?? this.#known;
        done();
        if (changed) this.#onChange();
      },
      (error: unknown) => done(error as Error),
    );
  }
}
