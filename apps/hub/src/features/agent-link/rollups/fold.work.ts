/**
 * What the claimed worker does with the fleet's counts: folds what is marked, tells subscribers when a count changed, and
 * goes through all counts slowly to prove them right: once fast when a hub has started, then a slice now and then. With
 * nothing marked a tick is one look at an empty table.
 */
import type { EntityManager } from 'typeorm';
import type { Logger } from 'pino';

import { appendChanges } from '../../../platform/database/change-log.ts';
import { isOfOneEntry } from '../../../platform/database/sql-state.ts';
import { checkMemberClusters, checkRegions } from './check-rollups.ts';
import type { Apart } from './count-apart.ts';
import { foldFleet, MARKS_AT_ONCE } from './fold-fleet.ts';

/** The subject of changes to the fleet as a whole. */
export const FLEET_SUBJECT = '00000000-0000-0000-0000-000000000000';
/** How old `folded_at` may be while nothing changes. */
const HEAD_MS = 5_000;
const FIRST_SLICE = { size: 1_000, everyMs: 50 } as const;
const LATER_SLICE = { size: 250, everyMs: 10_000 } as const;

export class FoldWork {
  readonly #log: Logger;
  #checkAfter: string | null = null;
  #isFirstPass = true;
  #nextCheckMs = 0;
  #nextHeadMs = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** One tick. Returns in how many ms the next one is due when it must not wait its turn. */
  async tick(tx: EntityManager, nowMs: number): Promise<number | undefined> {
    const { marks, changed, apart } = await foldFleet(tx);
    this.#tellApart(apart);
    const isFull = marks >= MARKS_AT_ONCE;
    if (!isFull && nowMs >= this.#nextCheckMs) await this.#checkSlice(tx, nowMs);
    if (changed > 0) await appendChanges(tx, nowMs, [{ topic: 'fleet', subject: FLEET_SUBJECT, kind: 'CHANGED' }]);
    if (changed > 0 || nowMs >= this.#nextHeadMs) await this.#writeHead(tx, nowMs);
    if (isFull) return 0;
    return this.#isFirstPass ? FIRST_SLICE.everyMs : undefined;
  }

  async #checkSlice(tx: EntityManager, nowMs: number): Promise<void> {
    const { size, everyMs } = this.#isFirstPass ? FIRST_SLICE : LATER_SLICE;
    const { next, wrong, apart } = await checkMemberClusters(tx, { after: this.#checkAfter, size });
    this.#tellApart(apart);
    const wrongRegions = next === null ? await this.#checkRegions(tx) : 0;
    await this.#tell(tx, wrong, wrongRegions);
    this.#checkAfter = next;
    if (next === null) {
      if (this.#isFirstPass) await createHead(tx);
      this.#isFirstPass = false;
    }
    this.#nextCheckMs = nowMs + everyMs;
  }

  /** Counts of regions that cannot be put right do not keep the member clusters from being counted. */
  async #checkRegions(tx: EntityManager): Promise<number> {
    return tx.transaction(checkRegions).catch((error: unknown) => {
      if (!isOfOneEntry(error)) throw error;
      this.#log.error({ err: error }, 'counts of regions cannot be put right; this is tried again with the next pass');
      return 0;
    });
  }

  #tellApart(apart: readonly Apart[]): void {
    for (const { memberClusterId, tries, error } of apart) {
      if (tries > 1) continue;
      this.#log.error(
        { code: 'SET_APART', work: 'fold', owner: memberClusterId, err: error },
        'the counts of a member cluster cannot be written; it keeps those of before and is tried again, apart from the others',
      );
    }
  }

  /** The very first pass after the tables were made finds them empty: that is no fault. */
  async #tell(tx: EntityManager, wrong: readonly string[], wrongRegions: number): Promise<void> {
    if (wrong.length === 0 && wrongRegions === 0) return;
    const found = { memberClusters: wrong.length, first: wrong.slice(0, 5), regionCounts: wrongRegions };
    if (!(await hasHead(tx))) this.#log.info(found, 'counts for dashboards are made for the first time');
    else this.#log.error(found, 'counts for dashboards were wrong and have been counted anew; please report this');
  }

  /** Nothing is said to be folded before everything was counted once. */
  async #writeHead(tx: EntityManager, nowMs: number): Promise<void> {
    await tx.query('UPDATE health_rollup_head SET folded_at = now()');
    this.#nextHeadMs = nowMs + HEAD_MS;
  }
}

const createHead = (tx: EntityManager): Promise<unknown> =>
  tx.query('INSERT INTO health_rollup_head (folded_at) VALUES (now()) ON CONFLICT (one) DO NOTHING');

async function hasHead(tx: EntityManager): Promise<boolean> {
  return (await tx.query<unknown[]>('SELECT 1 FROM health_rollup_head')).length > 0;
}
