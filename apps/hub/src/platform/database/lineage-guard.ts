/**
 * Notices on each new connection, and every few seconds, that the database behind the address is another one than before:
 * restored, put back, or failed over to another timeline (03 rule 8). A pool that only looked at start would go on
 * speaking for the old lineage.
 */
import type { Client } from 'pg';

import { continuesLineage, type DatabaseLineage, isSameLineage, READ_LINEAGE } from './hub-identity.ts';

export class LineageGuard {
  #known: DatabaseLineage | undefined;
  #changes = 0;
  #followedChange = 0;
  #onChange: (lineage: DatabaseLineage) => Promise<boolean> = () => Promise.resolve(true);

  get known(): DatabaseLineage | undefined {
    return this.#known;
  }

  /**
   * False from the moment in which another database was found until it was followed: what it says may be of yesterday, and its
   * epoch does not tell so yet. Whoever reads on a connection and asks afterwards is told of that connection too.
   */
  get isFollowed(): boolean {
    return this.#changes === this.#followedChange;
  }

  /** Called once per change, after the connection is usable; again with the next one while it resolves with false. */
  onChange(callback: (lineage: DatabaseLineage) => Promise<boolean>): void {
    this.#onChange = callback;
  }

  /** For pg's pool: runs on each new connection before anybody gets it. */
  verify(client: Client, done: (error?: Error) => void): void {
    const asked = this.#known;
    client.query<DatabaseLineage>(READ_LINEAGE).then(
      ({ rows: [lineage] }) => {
        const tell = lineage === undefined ? undefined : this.#take(lineage, asked);
        done();
        tell?.();
      },
      (error: unknown) => done(error as Error),
    );
  }

  /**
   * What an open connection says; `asked`: what was known when it was asked. False when it leads to another database, of
   * which only new connections may speak: it can be the one before.
   */
  note(lineage: DatabaseLineage, asked: DatabaseLineage | undefined): boolean {
    if (this.#known === undefined || !isSameLineage(this.#known, lineage)) return false;
    this.#take(lineage, asked)?.();
    return true;
  }

  #take(lineage: DatabaseLineage, asked: DatabaseLineage | undefined): (() => void) | undefined {
    const before = this.#known;
    this.#known = lineage;
    if (before === undefined || asked === undefined || continuesLineage(before, lineage)) return undefined;
    // Answers overtake each other: one that was asked for before the newest came may say less of the log.
    if (isSameLineage(before, lineage) && continuesLineage(asked, lineage)) return undefined;
    const change = (this.#changes += 1);
    return () =>
      void this.#onChange(lineage).then((followed) => {
        if (followed) this.#followedChange = Math.max(this.#followedChange, change);
        else this.#known = before;
      });
  }
}
