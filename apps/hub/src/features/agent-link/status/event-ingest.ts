/**
 * Stores the events of all sessions of this replica together, and acks after it. While the database is away they wait,
 * at most one batch an agent, since agents send the next after the ack. A batch that cannot be stored is halved until the events
 * that it fails of are alone; those are left out and named in the log, or their agent would send them for ever.
 */
import type { Logger } from 'pino';

import { isAboutContent, readSqlState } from '../../../platform/database/sql-state.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import type { EventEntry, EventRepository } from './event.repository.ts';
import { isLeftOut } from './left-out.rules.ts';
import { MergedCalls } from '../sessions/merged-calls.ts';
import { sessionKeyOf } from '../sessions/session-key.ts';

const MERGE_MS = 50;
const MAX_BATCHES = 200;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Of one batch: enough to find some events that cannot be stored, few enough that a batch full of them holds up nobody. */
const MAX_PARTS = 64;
const MAX_NAMED_EVENTS = 20;

/**
 * STORED: its agent may forget them, as also those that cannot be stored. FENCED: the session may write no more; ENDED: it
 * ended first. Of both nothing was written, and the agent tells it in its next session.
 */
export type EventResult = 'STORED' | 'FENCED' | 'ENDED';

interface Adding {
  readonly isOpen: () => boolean;
  /** Parts that the batch may still be cut into; counts down. */
  readonly left: { parts: number };
}

export class EventIngest {
  readonly #merged: MergedCalls<EventEntry, 'STORED' | 'FENCED'>;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #nowMs: () => number;
  #storedMs = -Infinity;

  constructor(
    repository: Pick<EventRepository, 'store'>,
    log: Logger,
    metrics: Metrics,
    nowMs = (): number => performance.now(),
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#nowMs = nowMs;
    this.#merged = new MergedCalls({
      mergeMs: MERGE_MS,
      maxCalls: MAX_BATCHES,
      work: async (entries) => {
        const fenced = await repository.store(entries);
        this.#storedMs = this.#nowMs();
        return entries.map(({ session }) => (fenced.has(sessionKeyOf(session)) ? 'FENCED' : 'STORED'));
      },
    });
  }

  add(entry: EventEntry, isOpen: () => boolean): Promise<EventResult> {
    return this.#add(entry, { isOpen, left: { parts: MAX_PARTS } });
  }

  async #add(entry: EventEntry, adding: Adding): Promise<EventResult> {
    const sinceMs = this.#nowMs();
    for (let tries = 1; adding.isOpen(); tries += 1) {
      try {
        return await this.#merged.add(entry);
      } catch (error) {
        const isCut = isAboutContent(error) && entry.items.length > 1 && adding.left.parts > 1;
        if (isCut) return this.#addHalves(entry, adding);
        if (isLeftOut(error, { tries, othersStored: this.#storedMs >= sinceMs })) return this.#leaveOut(entry, error);
        this.#log.warn({ err: error }, 'events could not be stored; they are tried again');
        const pauseMs = isAboutContent(error) ? Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** (tries - 1)) : RETRY_MS;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return 'ENDED';
  }

  async #addHalves({ session, items }: EventEntry, adding: Adding): Promise<EventResult> {
    adding.left.parts -= 2;
    const middle = Math.ceil(items.length / 2);
    const halves = [items.slice(0, middle), items.slice(middle)];
    const results = await Promise.all(halves.map((half) => this.#add({ session, items: half }, adding)));
    return results.find((result) => result !== 'STORED') ?? 'STORED';
  }

  #leaveOut({ session, items }: EventEntry, error: unknown): EventResult {
    const named = items
      .slice(0, MAX_NAMED_EVENTS)
      .map(({ reason, namespace, name }) => `${reason} of ${namespace}/${name}`);
    this.#log.error(
      { err: error, agentId: session.agentId, events: named, count: items.length },
      'events that cannot be stored are left out',
    );
    this.#metrics.eventsLeftOut.inc({ sqlstate: readSqlState(error) }, items.length);
    return 'STORED';
  }
}
