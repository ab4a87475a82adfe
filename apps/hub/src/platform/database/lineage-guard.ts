/**
 * Notices on each new connection that the database behind the address is another one than before: restored, or failed
 * over to another timeline (03 rule 8). A pool that only looked at start would go on speaking for the old lineage.
 */
import type { Client } from 'pg';

import { type DatabaseLineage, isSameLineage, READ_LINEAGE } from './hub-identity.ts';

export class LineageGuard {
  #known: DatabaseLineage | undefined;
  #onChange: (lineage: DatabaseLineage) => Promise<boolean> = () => Promise.resolve(true);

  /** Called once per change, after the connection is usable; again with the next one while it resolves with false. */
  onChange(callback: (lineage: DatabaseLineage) => Promise<boolean>): void {
    this.#onChange = callback;
  }

  /** For pg's pool: runs on each new connection before anybody gets it. */
  verify(client: Client, done: (error?: Error) => void): void {
    client.query<DatabaseLineage>(READ_LINEAGE).then(
      ({ rows: [lineage] }) => {
        const before = this.#known;
        this.#known = lineage ?? before;
        done();
        if (lineage === undefined || before === undefined || isSameLineage(lineage, before)) return;
        void this.#onChange(lineage).then((followed) => {
          if (!followed) this.#known = before;
        });
      },
      (error: unknown) => done(error as Error),
    );
  }
}
