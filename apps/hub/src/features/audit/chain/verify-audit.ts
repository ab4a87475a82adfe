/**
 * Looks through every chain of the audit, from its checkpoint to its end, in one snapshot of the database. What it cannot
 * see by itself is a chain that was made again from the first row on, or cut at its end: for that it takes heads that were
 * written down elsewhere (`expected`), as the log of the hub tells them.
 */
import type { EntityManager } from 'typeorm';
import { FLEET_CHAIN, findBreak, type BreakReason, type ChainedRow, type ChainHead } from './chain-link.rules.ts';
import { countUnchained, readCheckpoints, readLinks } from './chain.repository.ts';

const ROWS_AT_ONCE = 1_000;

export interface AuditFault extends ChainHead {
  readonly reason: BreakReason | 'EXPECTED_MISSING' | 'EXPECTED_DIFFERS';
  readonly seq: number | null;
}

export interface AuditReport {
  readonly rows: number;
  /** Written within the last seconds, or while no hub ran: they have no place yet. */
  readonly unchained: number;
  /** The first broken row of each chain, and what was expected and is not there. */
  readonly faults: readonly AuditFault[];
  /** Expected, and removed for their age since. */
  readonly removed: readonly ChainHead[];
  readonly heads: readonly ChainHead[];
}

export async function verifyAudit(manager: EntityManager, expected: readonly ChainHead[]): Promise<AuditReport> {
  const walk = new ChainWalk(await readCheckpoints(manager), expected);
  let after: Pick<ChainHead, 'chain' | 'chainNumber'> = { chain: FLEET_CHAIN, chainNumber: -1 };
  for (;;) {
    const rows = await readLinks(manager, after, ROWS_AT_ONCE);
    for (const row of rows) walk.step(row);
    const last = rows.at(-1);
    if (!last) break;
    after = last;
  }
  return walk.report(await countUnchained(manager));
}

const keyOf = ({ chain, chainNumber }: Pick<ChainHead, 'chain' | 'chainNumber'>): string => `${chain}:${chainNumber}`;

class ChainWalk {
  readonly #heads: Map<string, ChainHead>;
  readonly #checkpoints: ReadonlyMap<string, ChainHead>;
  readonly #waited: Map<string, ChainHead>;
  readonly #broken = new Set<string>();
  readonly #faults: AuditFault[] = [];
  #rows = 0;

  constructor(checkpoints: readonly ChainHead[], expected: readonly ChainHead[]) {
    this.#checkpoints = new Map(checkpoints.map((head) => [head.chain, head]));
    this.#heads = new Map(this.#checkpoints);
    this.#waited = new Map(expected.map((head) => [keyOf(head), head]));
    for (const head of checkpoints) this.#meet(head, null);
  }

  step(row: ChainedRow): void {
    this.#rows += 1;
    const head = this.#heads.get(row.chain) ?? { chain: row.chain, chainNumber: 0, chainHash: null };
    const found = this.#broken.has(row.chain) ? undefined : findBreak(row, head);
    if (found) {
      this.#broken.add(row.chain);
      this.#faults.push(found);
    }
    const { chain, chainNumber, chainHash } = row;
    this.#heads.set(chain, { chain, chainNumber, chainHash });
    this.#meet(row, row.seq);
  }

  report(unchained: number): AuditReport {
    const left = [...this.#waited.values()];
    const isRemoved = (head: ChainHead): boolean =>
      head.chainNumber < (this.#checkpoints.get(head.chain)?.chainNumber ?? 0);
    const missing = left
      .filter((head) => !isRemoved(head))
      .map((head) => ({ ...head, reason: 'EXPECTED_MISSING' as const, seq: null }));
    return {
      rows: this.#rows,
      unchained,
      faults: [...this.#faults, ...missing],
      removed: left.filter(isRemoved),
      heads: [...this.#heads.values()],
    };
  }

  #meet(head: ChainHead, seq: number | null): void {
    const waited = this.#waited.get(keyOf(head));
    if (!waited) return;
    this.#waited.delete(keyOf(head));
    if (waited.chainHash !== head.chainHash) this.#faults.push({ ...waited, reason: 'EXPECTED_DIFFERS', seq });
  }
}
