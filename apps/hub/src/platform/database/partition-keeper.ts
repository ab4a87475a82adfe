/**
 * Keeps the partitions of the running hub: makes those that writers are going to need, and then lets go those past their
 * keep. Making is a transaction of its own and each drop is another: with all in one, a single old partition that cannot go
 * (a view on it) takes the new ones back, and some hours later nothing can be stored. Nothing is dropped while the clocks
 * of the database and of this replica differ: one of them is wrong, and by a wrong one the whole log may seem past its keep.
 */
import type { Clock } from '#domain';
import type { Logger } from 'pino';
import type { DataSource, EntityManager } from 'typeorm';

import { afterCommit } from './after-commit.ts';
import { chooseExpired, listPartitions, makePartitions, PARTITIONED_TABLES, readDatabaseMs } from './partitions.ts';
import { nameOutage } from './sql-state.ts';

/**
 * A partition is dropped only when nobody reads the table: the lock that it takes is one of the whole table, and while it
 * waits for a `pg_dump`, every write of the hub would wait behind it. So it waits this long, and is tried at the next look.
 */
const DROP_TIMEOUT_MS = 250;
/** Lock not available, deadlock detected. */
const IN_USE = /^(55P03|40P01)$/;
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;
/** Looks may follow each other at once, while writers wait for a partition. */
const DROP_PAUSE_MS = 60_000;
const MAKE_AGAIN_MS = 10_000;
/** Writers that wait for a partition which cannot be made ask for it many times a second. */
const FAILED_PAUSE_MS = 2_000;
const TELL_AGAIN_MS = 3_600_000;

export interface PartitionKeeperParts {
  readonly dataSource: DataSource;
  readonly clock: Clock;
  readonly log: Logger;
}

export class PartitionKeeper {
  readonly #parts: PartitionKeeperParts;
  readonly #toldMs = new Map<string, number>();
  /** Not dropped the last time: after all others, or one that is always in use would keep them for ever. */
  #stubborn: ReadonlySet<string> = new Set();
  #dropping: Promise<void> = Promise.resolve();
  #droppedMs = -Infinity;
  #failedMs = -Infinity;

  constructor(parts: PartitionKeeperParts) {
    this.#parts = parts;
  }

  /** In the transaction that holds the claim. May return in how many ms it wants to be called again. */
  async keep(tx: EntityManager): Promise<number | undefined> {
    const failures = await makePartitions(tx, this.#parts.clock.nowMs());
    for (const { partition, error } of failures) this.#tell('PARTITION_NOT_MADE', { partition, err: error }, NOT_MADE);
    this.#failedMs = failures.length > 0 ? this.#parts.clock.monotonicMs() : -Infinity;
    afterCommit(tx, 'drop partitions', () => this.dropSoon());
    return failures.length > 0 ? MAKE_AGAIN_MS : undefined;
  }

  /** False right after a look that could not make one: another would end in the same way. */
  get isWorthALook(): boolean {
    return this.#parts.clock.monotonicMs() - this.#failedMs >= FAILED_PAUSE_MS;
  }

  /** Not more often than once a minute. */
  dropSoon(): void {
    this.#dropping = this.#dropping.then(() => this.#dropNowAndThen());
  }

  /** Drops what is past its keep. Throws only what keeps everybody from the database. */
  async drop(): Promise<void> {
    const { manager } = this.#parts.dataSource;
    const nowMs = await readDatabaseMs(manager);
    const differenceMs = Math.round(this.#parts.clock.nowMs() - nowMs);
    if (Math.abs(differenceMs) > MAX_CLOCK_DIFFERENCE_MS) return this.#tell('CLOCKS_DIFFER', { differenceMs }, DIFFER);
    const expired: string[] = [];
    for (const spec of PARTITIONED_TABLES) {
      expired.push(...chooseExpired(spec, await listPartitions(manager, spec), nowMs).reverse());
    }
    const stubborn = new Set<string>();
    const [first, last] = [expired.filter((name) => !this.#stubborn.has(name)), expired];
    for (const name of new Set([...first, ...last])) {
      const result = await this.#dropOne(name);
      if (result !== 'DROPPED') stubborn.add(name);
      if (result === 'IN_USE') break;
    }
    this.#stubborn = stubborn;
  }

  async stop(): Promise<void> {
    await this.#dropping;
  }

  async #dropNowAndThen(): Promise<void> {
    const { clock, log } = this.#parts;
    if (clock.monotonicMs() - this.#droppedMs < DROP_PAUSE_MS) return;
    this.#droppedMs = clock.monotonicMs();
    await this.drop().catch((error: unknown) => log.warn({ err: error }, 'old partitions are let go at the next look'));
  }

  async #dropOne(partition: string): Promise<'DROPPED' | 'IN_USE' | 'FAILED'> {
    try {
      await this.#parts.dataSource.transaction(async (tx) => {
        await tx.query(`SET LOCAL lock_timeout = ${DROP_TIMEOUT_MS}`);
        await tx.query(`DROP TABLE IF EXISTS ${partition}`);
      });
      return 'DROPPED';
    } catch (error) {
      if (IN_USE.test(String((error as { code?: unknown }).code))) return 'IN_USE';
      if (nameOutage(error) !== undefined) throw error;
      this.#tell('PARTITION_NOT_DROPPED', { partition, err: error }, NOT_DROPPED);
      return 'FAILED';
    }
  }

  /** The same again after an hour only. */
  #tell(code: string, about: { readonly partition?: string; readonly [name: string]: unknown }, message: string): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const key = `${code} ${about.partition ?? ''}`;
    if (nowMs - (this.#toldMs.get(key) ?? -Infinity) < TELL_AGAIN_MS) return;
    this.#toldMs.set(key, nowMs);
    this.#parts.log.error({ code, ...about }, message);
  }
}

const NOT_MADE =
  'a partition could not be made, and nothing is stored that belongs there; see the error: another partition may lie across it, or the role may not make tables';
const NOT_DROPPED =
  'a partition past its keep could not be dropped and takes up room; the others go on. Drop what depends on it (a view, a foreign key), or DETACH it to keep it';
const DIFFER =
  'the clocks of this replica and of the database differ by more than five minutes: no old partition is dropped. Put the wrong one right (NTP)';
