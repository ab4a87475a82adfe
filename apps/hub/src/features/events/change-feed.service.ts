/**
 * Follows change_log while somebody watches, and tells each watcher of the subjects it asked for. One reader a process,
 * whatever the number of subscriptions: woken by hints of any replica, with a poll behind them. Watchers are told that
 * something changed and where, not what: they read the present state themselves, so nothing has to be queued for them.
 */
import type { Clock } from '#domain';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import { ApiDatabase } from '../../platform/database/pools.ts';
import { signalsOf } from '../../platform/database/signals.ts';
import { LOG } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import type { ChangeCursor } from './change-cursor.ts';
import { ChangeLogRepository, type ChangeRow } from './change-log.repository.ts';

const POLL_MS = 1_000;
/**
 * A change is readable only once every older transaction has ended, so it may not be there yet when its hint comes:
 * look every 20 ms for a while.
 */
const AFTER_HINT_MS = 20;
const EAGER_READS = 10;
type Watcher = (change: ChangeRow) => void;

@Injectable()
export class ChangeFeedService implements OnModuleDestroy {
  private readonly watchers = new Map<string, Set<Watcher>>();
  private cursor: ChangeCursor | undefined;
  /** When everything before the cursor had been read. */
  private readAtMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private stopListening: (() => void) | undefined;
  private eagerReads = 0;

  constructor(
    private readonly repository: ChangeLogRepository,
    private readonly dataSource: ApiDatabase,
    @Inject(LOG) private readonly log: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleDestroy(): void {
    this.watchers.clear();
    this.pause();
  }

  /**
   * From now on `watcher` hears of every change of these subjects. Returns the place from which on it does (the first value
   * read after this call misses nothing) and the way to stop.
   */
  async watch(
    subjects: readonly string[],
    watcher: Watcher,
  ): Promise<{ readonly from: ChangeCursor; readonly stop: () => void }> {
    const nowMs = this.clock.nowMs();
    const end = this.cursor ?? (await this.repository.end());
    if (!this.cursor) {
      this.cursor = end;
      this.readAtMs = nowMs;
    }
    for (const subject of subjects) {
      const watchers = this.watchers.get(subject) ?? new Set();
      this.watchers.set(subject, watchers.add(watcher));
    }
    this.stopListening ??= signalsOf(this.dataSource).listen('change', () => this.hurry());
    if (!this.timer) this.schedule(POLL_MS);
    return { from: this.cursor, stop: () => this.forget(subjects, watcher) };
  }

  private forget(subjects: readonly string[], watcher: Watcher): void {
    for (const subject of subjects) {
      const watchers = this.watchers.get(subject);
      watchers?.delete(watcher);
      if (watchers?.size === 0) this.watchers.delete(subject);
    }
    if (this.watchers.size === 0) this.pause();
  }

  private pause(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.cursor = undefined;
    this.stopListening?.();
    this.stopListening = undefined;
  }

  private hurry(): void {
    this.eagerReads = EAGER_READS;
    this.schedule(AFTER_HINT_MS);
  }

  private schedule(afterMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(), afterMs);
  }

  /** One read at a time; the next one is due after it. */
  private async read(): Promise<void> {
    this.reading ??= this.readBatches().finally(() => (this.reading = undefined));
    await this.reading;
    if (this.watchers.size === 0) return;
    this.eagerReads -= 1;
    this.schedule(this.eagerReads > 0 ? AFTER_HINT_MS : POLL_MS);
  }

  private async readBatches(): Promise<void> {
    try {
      while (this.cursor) {
        const nowMs = this.clock.nowMs();
        const { rows, full } = await this.repository.readAfter(this.cursor, this.readAtMs);
        for (const row of rows) this.tell(row);
        const last = rows.at(-1);
        if (last && this.cursor) this.cursor = { xid: last.xid, id: last.id };
        if (full) continue;
        this.readAtMs = nowMs;
        return;
      }
    } catch (error) {
      this.log.warn({ err: error }, 'the log of changes could not be read; trying again');
    }
  }

  private tell(row: ChangeRow): void {
    for (const watcher of this.watchers.get(row.subject) ?? []) watcher(row);
  }
}
