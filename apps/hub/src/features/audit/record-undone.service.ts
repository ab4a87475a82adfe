/**
 * Writes the audit rows of mutations that changed nothing (refused, dry, failed): what merged-refusals.ts lets through at
 * once, what it has counted at the end of a minute, and all of that at the stop. What the database does not take is kept and
 * tried again.
 */
import type { Clock } from '#domain';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { LOG } from '../../platform/lifecycle/hub-runtime.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { AuditRepository, type NewAuditRow } from './audit.repository.ts';
import { boundTarget } from './bound-audit-row.rules.ts';
import { MergedRefusals } from './merged-refusals.ts';

const LOOK_MS = 5_000;
/** Of a database that is away for long: the oldest are dropped, and the log says so. */
const MOST_WAITING = 10_000;

@Injectable()
export class RecordUndoneService implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #merged = new MergedRefusals();
  readonly #waiting: NewAuditRow[] = [];
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly audit: AuditRepository,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.#write(), LOOK_MS);
  }

  /** After the listeners have closed: no refusal comes later. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.#write(true);
    await this.#writing;
    if (this.#waiting.length > 0) this.#tellLost(this.#waiting.length);
  }

  /** Throws when the first row of a kind cannot be written: a caller is not told of a refusal that the audit lacks. */
  async record(principalId: string, refused: NewAuditRow): Promise<void> {
    // It is kept for a minute, and a caller may send a megabyte.
    const row = { ...refused, target: boundTarget(refused.target) };
    if (!this.#merged.note(principalId, row, this.clock.monotonicMs())) return;
    try {
      await this.audit.append(row);
    } catch (error) {
      this.#merged.putBack(principalId, row);
      throw error;
    }
  }

  #write(isLast = false): void {
    this.#writing = this.#writing.then(async () => {
      this.#waiting.push(...this.#merged.due(this.clock.monotonicMs(), isLast));
      const over = this.#waiting.length - MOST_WAITING;
      if (over > 0) this.#tellLost(this.#waiting.splice(0, over).length);
      try {
        for (let row = this.#waiting[0]; row; row = this.#waiting[0]) {
          await this.audit.append(row);
          this.#waiting.shift();
        }
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.log.warn({ err: error }, 'counts of refusals wait for the database');
        this.#isFailing = true;
      }
    });
  }

  #tellLost(rows: number): void {
    this.log.error({ code: 'AUDIT_COUNTS_LOST', rows }, 'counts of refusals could not be written to the audit');
  }
}
