/**
 * Commits the status batches of all sessions of this replica together, every 25 ms at most, and acks after it
 * (03 rule 12). Batches of one agent are never in two commits at once, so they keep their order. A commit that fails is
 * halved until the batch that it fails of is alone, whatever the database said, unless nobody can work on it. Of that batch the
 * items that cannot be stored are left out, named in the log, and the batch is acked, or its agent would send it for ever. An
 * agent of which nothing can be stored is set apart and tried again after growing pauses; the others do not wait for it.
 */
import type { Logger } from 'pino';

import { isAboutContent, isOfOneEntry, readSqlState } from '../../../platform/database/sql-state.ts';
import { SetApart } from '../../../platform/database/set-apart.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { sessionKeyOf } from '../sessions/session-key.ts';
import {
  resultOf,
  type StatusEntry,
  type StatusResult,
  type StatusVerdicts,
  type StatusWriter,
} from './status-entry.ts';
import { isLeftOut } from './left-out.rules.ts';
import { type Salvage, salvage } from './status-salvage.ts';
import type { NamedObject } from './unstored-status.ts';
import { sizeOf, takeInTurn } from './take-in-turn.ts';

const MERGE_MS = 25;
const RETRY_MS = 500;
const MAX_ITEMS_PER_COMMIT = 2_000;
/** At once, of different agents: a second one begins while the first waits for the disk, or is long. */
const MAX_COMMITS = 2;
/** More waiting items than this: agents are told to slow down. */
const BEHIND_ITEMS = 5_000;
const MAX_NAMED_ITEMS = 20;
const NOTED_AFTER_TRIES = 3;

interface Waiting {
  readonly entry: StatusEntry;
  readonly sinceMs: number;
  readonly done: (result: StatusResult) => void;
  readonly failed: (error: unknown) => void;
}

const NONE: ReadonlySet<string> = new Set();

export class StatusIngest {
  readonly #writer: StatusWriter;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #nowMs: () => number;
  readonly #apart: SetApart;
  #waiting: Waiting[] = [];
  #waitingItems = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Infinity;
  /** Under way; no two of them hold batches of one agent. */
  readonly #commits = new Set<Promise<void>>();
  readonly #busy = new Set<string>();
  readonly #underWay = new Set<Waiting>();
  readonly #settled = new WeakSet<Waiting>();
  /** When status of somebody was stored last. */
  #storedMs = -Infinity;
  #stopped = false;

  constructor(writer: StatusWriter, metrics: Metrics, log: Logger, nowMs = (): number => performance.now()) {
    this.#writer = writer;
    this.#metrics = metrics;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#apart = new SetApart({ work: 'status', log, metrics, nowMs });
    metrics.readOldestUnstored = () => this.oldestMs / 1_000;
  }

  /** What waits for an agent that is set apart makes no other agent slow down. */
  get isBehind(): boolean {
    if (this.#waitingItems <= BEHIND_ITEMS || this.#apart.size === 0) return this.#waitingItems > BEHIND_ITEMS;
    return countItems(this.#waiting.filter((one) => !this.#apart.waits(agentOf(one)))) > BEHIND_ITEMS;
  }

  /** Age of the oldest batch that is not stored yet; 0 when all are. */
  get oldestMs(): number {
    let sinceMs = Infinity;
    for (const one of [...this.#waiting, ...this.#underWay]) sinceMs = Math.min(sinceMs, one.sinceMs);
    return sinceMs === Infinity ? 0 : this.#nowMs() - sinceMs;
  }

  /** Resolves after the commit. Rejects only when the replica stops first. */
  add(entry: StatusEntry): Promise<StatusResult> {
    return new Promise((done, failed) => {
      this.#waiting.push({ entry, sinceMs: this.#nowMs(), done, failed });
      this.#waitingItems += sizeOf({ entry });
      if (this.#apart.size > 0) this.#endOlderSessions(entry.session.agentId);
      this.#runSoon(MERGE_MS);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#commits);
    for (const { failed } of this.#waiting.splice(0)) failed(new Error('the replica stops'));
  }

  /** What an agent that is set apart sends in each new session must not pile up: of an older one nothing is written any more. */
  #endOlderSessions(agentId: string): void {
    const all = this.#waiting.filter((one) => agentOf(one) === agentId);
    const newest = Math.max(...all.map(({ entry }) => entry.session.sessionNo));
    const over = new Set(all.filter(({ entry }) => entry.session.sessionNo < newest));
    if (over.size === 0) return;
    this.#waiting = this.#waiting.filter((one) => !over.has(one));
    this.#waitingItems -= countItems([...over]);
    for (const one of over) this.#settle(one, 'FENCED');
  }

  #runSoon(delayMs: number): void {
    if (this.#commits.size >= MAX_COMMITS || this.#stopped) return;
    const dueMs = this.#nowMs() + delayMs;
    if (this.#timer !== undefined && dueMs >= this.#timerDueMs) return;
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
    }, delayMs);
  }

  #begin(): void {
    const taken = this.#take();
    if (taken.length === 0) return this.#runWhenDue();
    const agentIds = taken.map(agentOf);
    for (const agentId of agentIds) this.#busy.add(agentId);
    for (const one of taken) this.#underWay.add(one);
    const commit = this.#run(taken).then((failed) => {
      for (const agentId of agentIds) this.#busy.delete(agentId);
      for (const one of taken) this.#underWay.delete(one);
      this.#commits.delete(commit);
      if (this.#waiting.length > 0) this.#runSoon(failed ? RETRY_MS : 0);
    });
    this.#commits.add(commit);
    if (this.#waiting.length > 0) this.#runSoon(MERGE_MS);
  }

  /** All that waits is of agents that are set apart, or whose commit is under way and looks again at its end. */
  #runWhenDue(): void {
    const inMs = this.#apart.nextInMs();
    if (this.#waiting.length > 0 && inMs !== undefined) this.#runSoon(Math.max(inMs, MERGE_MS));
  }

  /** True when the database failed: what was taken waits again, in its place. */
  async #run(taken: readonly Waiting[]): Promise<boolean> {
    const end = this.#metrics.statusCommitSeconds.startTimer();
    try {
      await this.#commit(taken);
      end();
      this.#waitAgain(taken);
      return false;
    } catch (error) {
      this.#log.warn({ err: error }, 'status could not be committed; it is tried again');
      this.#waitAgain(taken);
      return true;
    }
  }

  #waitAgain(taken: readonly Waiting[]): void {
    const left = taken.filter((one) => !this.#settled.has(one));
    this.#waiting = [...left, ...this.#waiting];
    this.#waitingItems += countItems(left);
    if (this.#apart.size > 0) for (const agentId of new Set(left.map(agentOf))) this.#endOlderSessions(agentId);
  }

  #take(): Waiting[] {
    const isFree = (agentId: string): boolean => !this.#busy.has(agentId) && !this.#apart.waits(agentId);
    const taken = takeInTurn(
      this.#waiting.filter((one) => isFree(agentOf(one))),
      MAX_ITEMS_PER_COMMIT,
    );
    const chosen = new Set(taken);
    this.#waiting = this.#waiting.filter((one) => !chosen.has(one));
    this.#waitingItems -= countItems(taken);
    return taken;
  }

  async #commit(all: readonly Waiting[]): Promise<void> {
    // Set apart since they were taken: what the agent sent after it must not be written before it.
    const batches = all.filter((one) => !this.#apart.waits(agentOf(one)));
    const [only] = batches;
    if (only === undefined) return;
    try {
      const verdicts = await this.#writer.commit(batches.map((one) => one.entry));
      const told = new Set<string>();
      for (const one of batches) this.#settle(one, resultOf(one.entry, verdicts, told));
      if (batches.some(({ entry }) => entry.batch.items.length > 0)) this.#storedMs = this.#nowMs();
      for (const one of batches) this.#apart.pass(agentOf(one));
    } catch (error) {
      if (!isOfOneEntry(error)) throw error;
      if (batches.length === 1) return this.#salvage(only, error);
      const middle = Math.ceil(batches.length / 2);
      await this.#commit(batches.slice(0, middle));
      await this.#commit(batches.slice(middle));
    }
  }

  /** What is not about the content is not looked for in it: each try might wait for a lock of others. */
  async #salvage(one: Waiting, error: unknown): Promise<void> {
    if (!isAboutContent(error)) return this.#setApart(one, error);
    const { entry } = one;
    const saved = await this.#tryParts(entry, error);
    if ('error' in saved) return this.#setApart(one, saved.error);
    if (saved.stored > 0) this.#storedMs = this.#nowMs();
    const isFenced = saved.verdicts.some(({ fenced }) => fenced.has(sessionKeyOf(entry.session)));
    if (isFenced) return this.#settleApart(one, 'FENCED');
    return this.#finish(one, saved);
  }

  async #finish(one: Waiting, { stored, failed }: Salvage): Promise<void> {
    const last = stored === 0 ? failed.at(-1) : undefined;
    if (last !== undefined && !this.#mayLeaveOut(one, last.error)) return this.#setApart(one, last.error);
    const counted = await this.#count(one.entry).catch((failure: unknown) => {
      if (!isOfOneEntry(failure)) throw failure;
      return { fenced: NONE, failure };
    });
    const isKept = 'failure' in counted && last === undefined && !this.#mayLeaveOut(one, counted.failure);
    if (isKept) return this.#setApart(one, counted.failure);
    await this.#leaveOut(one.entry, failed);
    this.#settleApart(one, counted.fenced.size > 0 ? 'FENCED' : 'POISONED');
  }

  async #tryParts(entry: StatusEntry, error: unknown): Promise<Salvage | { readonly error: unknown }> {
    try {
      return await salvage(this.#writer, entry, error);
    } catch (failure) {
      if (!isOfOneEntry(failure)) throw failure;
      return { error: failure };
    }
  }

  /** Counted with this failure. */
  #mayLeaveOut(one: Waiting, error: unknown): boolean {
    const { tries, sinceMs } = this.#apart.failuresOf(agentOf(one));
    return isLeftOut(error, { tries: tries + 1, othersStored: this.#storedMs >= sinceMs });
  }

  /** A deadlock or two is not worth a word to people. */
  async #setApart(one: Waiting, error: unknown): Promise<void> {
    const { tries } = this.#apart.fail(agentOf(one), error);
    if (tries >= NOTED_AFTER_TRIES) await this.#noteUnstored(one.entry, error);
  }

  /** Its counter counts as stored, whatever was left out, or the next batch would look as if this one had been lost. */
  #count({ session, batch: { counter } }: StatusEntry): Promise<StatusVerdicts> {
    return this.#writer.commit([{ session, batch: { counter, items: [] } }]);
  }

  async #noteUnstored({ session, batch }: StatusEntry, error: unknown): Promise<void> {
    await this.noteObjects(session.agentId, batch.items, readSqlState(error));
  }

  /** Of these objects something was told that is not stored. What cannot be noted either is in the log. */
  async noteObjects(agentId: string, objects: readonly NamedObject[], reason: string): Promise<void> {
    await this.#writer
      .noteUnstored(agentId, objects, reason)
      .catch((failure: unknown) => this.#log.warn({ err: failure }, 'it was not noted whose status is not stored'));
  }

  async #leaveOut({ session, batch }: StatusEntry, failed: Salvage['failed']): Promise<void> {
    for (const { items, error } of failed) {
      const named = items.slice(0, MAX_NAMED_ITEMS).map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
      this.#log.error(
        { err: error, agentId: session.agentId, items: named, count: items.length },
        'status that cannot be stored is left out',
      );
      this.#metrics.statusLeftOut.inc({ sqlstate: readSqlState(error) }, items.length);
      await this.#noteUnstored({ session, batch: { ...batch, items } }, error);
    }
  }

  #settleApart(one: Waiting, result: StatusResult): void {
    this.#apart.pass(agentOf(one));
    this.#settle(one, result);
  }

  #settle(one: Waiting, result: StatusResult): void {
    this.#settled.add(one);
    this.#underWay.delete(one);
    this.#metrics.statusBatches.inc({ result });
    one.done(result);
  }
}

const agentOf = ({ entry }: Waiting): string => entry.session.agentId;

const countItems = (batches: readonly Waiting[]): number => batches.reduce((sum, one) => sum + sizeOf(one), 0);
