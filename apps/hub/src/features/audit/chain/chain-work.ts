/**
 * Keeps the chain up to date, a few hundred rows at a time, and tells the heads that moved to the log: who can rewrite the
 * database can make a whole new chain, but not one that ends in what the log of the hub already said.
 */
import type { Clock } from '#domain';
import type { Logger } from 'pino';
import type { EntityManager } from 'typeorm';
import { afterCommit } from '../../../platform/database/after-commit.ts';
import type { ChainHead } from './chain-link.rules.ts';
import { fillChain } from './fill-chain.ts';

const ROWS_AT_ONCE = 500;
/** While rows of a release without a chain wait: a tenth of the time or so. */
const AGAIN_MS = 200;
const TELL_MS = 10 * 60_000;
const HEADS_A_LINE = 50;

export class ChainWork {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #moved = new Map<string, ChainHead>();
  #toldMs: number;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
    this.#toldMs = clock.monotonicMs();
  }

  async work(tx: EntityManager): Promise<number | undefined> {
    const { rows, heads } = await fillChain(tx, ROWS_AT_ONCE);
    afterCommit(tx, 'audit chain', () => {
      for (const head of heads) this.#moved.set(head.chain, head);
      if (this.#clock.monotonicMs() - this.#toldMs >= TELL_MS) this.tellHeads();
    });
    return rows === ROWS_AT_ONCE ? AGAIN_MS : undefined;
  }

  /** Those that moved since the last time; also at a stop. */
  tellHeads(): void {
    this.#toldMs = this.#clock.monotonicMs();
    const heads = [...this.#moved.values()].map((head) => formatHead(head));
    this.#moved.clear();
    for (let first = 0; first < heads.length; first += HEADS_A_LINE) {
      const some = heads.slice(first, first + HEADS_A_LINE);
      this.#log.info({ code: 'AUDIT_CHAIN_HEADS', heads: some }, 'where the chains of the audit end now');
    }
  }
}

/** As `audit verify --expect` takes it. */
export const formatHead = ({ chain, chainNumber, chainHash }: ChainHead): string =>
  `${chain}:${chainNumber}:${chainHash ?? ''}`;
