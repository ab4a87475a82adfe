/**
 * Commits the status batches of all sessions of this replica together, every 25 ms at most, and acks after it
 * (03 rule 12). Batches of one agent are never in two commits at once, so they keep their order. A commit that fails
 * because of its content is halved until the poisoned item is alone; that one is left out, named in the log, and its
 * batch acked, or its agent would send it for ever. Every other failure is tried again.
 */
import type { StatusBatch } from '#protocol';
import type { Logger } from 'pino';

import { isAboutContent } from '../../../platform/database/sql-state.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { type SessionKey, sessionKeyOf } from '../sessions/session-key.ts';
import { sizeOf, takeInTurn } from './take-in-turn.ts';

const MERGE_MS = 25;
const RETRY_MS = 500;
const MAX_ITEMS_PER_COMMIT = 2_000;
/** At once, of different agents: a second one begins while the first waits for the disk, or is long. */
const MAX_COMMITS = 2;
/** More waiting items than this: agents are told to slow down. */
const BEHIND_ITEMS = 5_000;
/** For one batch: enough to find half a dozen poisoned items, few enough that a batch full of them holds up nobody. */
const MAX_SALVAGE_COMMITS = 100;
const MAX_NAMED_ITEMS = 20;

export interface StatusEntry {
  readonly session: SessionKey;
  readonly batch: StatusBatch;
}
/**
 * IN_SYNC: its statusDigest is that of what is stored. BEHIND: committed, but the database lost what this session had told
 * before. POISONED: all but what cannot be stored.
 */
export type StatusResult = 'COMMITTED' | 'IN_SYNC' | 'BEHIND' | 'FENCED' | 'POISONED';

export interface StatusVerdicts {
  /** Keys of sessions (see `sessionKeyOf`) that are not their agents' any more: nothing of theirs was written. */
  readonly fenced: ReadonlySet<string>;
  /** Keys of sessions of which something acked before is not stored. */
  readonly behind: ReadonlySet<string>;
  /** Agents that proved that what is stored is what they hold. */
  readonly inSync: ReadonlySet<string>;
}

export interface StatusWriter {
  /** Commits all or nothing. */
  commit(entries: readonly StatusEntry[]): Promise<StatusVerdicts>;
}

interface Waiting {
  readonly entry: StatusEntry;
  readonly done: (result: StatusResult) => void;
  readonly failed: (error: unknown) => void;
}

export class StatusIngest {
  readonly #writer: StatusWriter;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  #waiting: Waiting[] = [];
  #waitingItems = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Under way; no two of them hold batches of one agent. */
  readonly #commits = new Set<Promise<void>>();
  readonly #busy = new Set<string>();
  #stopped = false;

  constructor(writer: StatusWriter, metrics: Metrics, log: Logger) {
    this.#writer = writer;
    this.#metrics = metrics;
    this.#log = log;
  }

  get isBehind(): boolean {
    return this.#waitingItems > BEHIND_ITEMS;
  }

  /** Resolves after the commit. Rejects only when the replica stops first. */
  add(entry: StatusEntry): Promise<StatusResult> {
    return new Promise((done, failed) => {
      this.#waiting.push({ entry, done, failed });
      this.#waitingItems += sizeOf({ entry });
      this.#runSoon(MERGE_MS);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#commits);
    for (const { failed } of this.#waiting.splice(0)) failed(new Error('the replica stops'));
  }

  #runSoon(delayMs: number): void {
    if (this.#timer !== undefined || this.#commits.size >= MAX_COMMITS || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
    }, delayMs);
  }

  #begin(): void {
    const taken = this.#take();
    if (taken.length === 0) return;
    const agentIds = taken.map((one) => one.entry.session.agentId);
    for (const agentId of agentIds) this.#busy.add(agentId);
    const commit = this.#run(taken).then((failed) => {
      for (const agentId of agentIds) this.#busy.delete(agentId);
      this.#commits.delete(commit);
      if (this.#waiting.length > 0) this.#runSoon(failed ? RETRY_MS : 0);
    });
    this.#commits.add(commit);
    if (this.#waiting.length > 0) this.#runSoon(MERGE_MS);
  }

  /** True when the database failed: what was taken waits again, in its place. */
  async #run(taken: readonly Waiting[]): Promise<boolean> {
    try {
      const end = this.#metrics.statusCommitSeconds.startTimer();
      await this.#commit(taken);
      end();
      return false;
    } catch (error) {
      this.#log.warn({ err: error }, 'status could not be committed; it is tried again');
      const left = taken.filter((one) => !this.#settled.has(one));
      this.#waiting = [...left, ...this.#waiting];
      this.#waitingItems += countItems(left);
      return true;
    }
  }

  readonly #settled = new WeakSet<Waiting>();

  #take(): Waiting[] {
    const free = this.#waiting.filter((one) => !this.#busy.has(one.entry.session.agentId));
    const taken = takeInTurn(free, MAX_ITEMS_PER_COMMIT);
    const chosen = new Set(taken);
    this.#waiting = this.#waiting.filter((one) => !chosen.has(one));
    this.#waitingItems -= countItems(taken);
    return taken;
  }

  async #commit(batches: readonly Waiting[]): Promise<void> {
    try {
      const verdicts = await this.#writer.commit(batches.map((one) => one.entry));
      const told = new Set<string>();
      for (const one of batches) this.#settle(one, resultOf(one.entry, verdicts, told));
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      const [only] = batches;
      if (batches.length === 1 && only) {
        return this.#settle(only, await this.#salvageWhole(only.entry, error));
      }
      const middle = Math.ceil(batches.length / 2);
      await this.#commit(batches.slice(0, middle));
      await this.#commit(batches.slice(middle));
    }
  }

  /** Its counter counts as stored, whatever was left out, or the next batch would look as if this one had been lost. */
  async #salvageWhole(entry: StatusEntry, error: unknown): Promise<StatusResult> {
    const result = await this.#salvage(entry, error, { commits: MAX_SALVAGE_COMMITS });
    if (result === 'FENCED') return result;
    const { session, batch } = entry;
    const counted = await this.#commitPart({ session, batch: { counter: batch.counter, items: [] } }, { commits: 1 });
    return counted === 'FENCED' ? counted : result;
  }

  /**
   * Stores what can be stored of a batch that cannot be. The end of a full resend is not told on: what such a batch did
   * not name is not known to be gone.
   */
  async #salvage({ session, batch }: StatusEntry, error: unknown, left: { commits: number }): Promise<StatusResult> {
    const { items, counter, inventory } = batch;
    if (items.length < 2) return this.#leaveOut({ session, batch }, error);
    const middle = Math.ceil(items.length / 2);
    for (const half of [items.slice(0, middle), items.slice(middle)]) {
      const part = { session, batch: { counter, items: half, ...(inventory === undefined ? {} : { inventory }) } };
      const result = left.commits > 0 ? await this.#commitPart(part, left) : this.#leaveOut(part, error);
      if (result === 'FENCED') return result;
    }
    return 'POISONED';
  }

  async #commitPart(part: StatusEntry, left: { commits: number }): Promise<StatusResult> {
    left.commits -= 1;
    try {
      return resultOf(part, await this.#writer.commit([part]), new Set());
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      return this.#salvage(part, error, left);
    }
  }

  #leaveOut({ session, batch: { items } }: StatusEntry, error: unknown): StatusResult {
    if (items.length === 0) return 'POISONED';
    const named = items.slice(0, MAX_NAMED_ITEMS).map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
    this.#log.error(
      { err: error, agentId: session.agentId, items: named, count: items.length },
      'status that cannot be stored is left out',
    );
    return 'POISONED';
  }

  #settle(one: Waiting, result: StatusResult): void {
    this.#settled.add(one);
    this.#metrics.statusBatches.inc({ result });
    one.done(result);
  }
}

/** `told`: sessions that were already told to be behind, once a commit. */
function resultOf({ session, batch }: StatusEntry, verdicts: StatusVerdicts, told: Set<string>): StatusResult {
  const key = sessionKeyOf(session);
  if (verdicts.fenced.has(key)) return 'FENCED';
  if (verdicts.behind.has(key) && !told.has(key)) {
    told.add(key);
    return 'BEHIND';
  }
  return batch.statusDigest !== undefined && verdicts.inSync.has(session.agentId) ? 'IN_SYNC' : 'COMMITTED';
}

const countItems = (batches: readonly Waiting[]): number => batches.reduce((sum, one) => sum + sizeOf(one), 0);
