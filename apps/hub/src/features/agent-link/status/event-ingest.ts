/**
 * Stores the events of all sessions of this replica together, and acks after it. While the database is away they wait,
 * at most one batch an agent, since agents send the next after the ack; a batch that cannot be stored for what it says is
 * left out and named in the log, or its agent would send it for ever.
 */
import type { Logger } from 'pino';

import { isAboutContent } from '../../../platform/database/sql-state.ts';
import type { EventEntry, EventRepository } from './event.repository.ts';
import { MergedCalls } from '../sessions/merged-calls.ts';
import { sessionKeyOf } from '../sessions/session-key.ts';

const MERGE_MS = 50;
const MAX_BATCHES = 200;
const RETRY_MS = 1_000;

/**
 * STORED: its agent may forget them, as also those that cannot be stored. FENCED: the session may write no more; ENDED: it
 * ended first. Of both nothing was written, and the agent tells it in its next session.
 */
export type EventResult = 'STORED' | 'FENCED' | 'ENDED';

export class EventIngest {
  readonly #merged: MergedCalls<EventEntry, 'STORED' | 'FENCED'>;
  readonly #log: Logger;

  constructor(repository: Pick<EventRepository, 'store'>, log: Logger) {
    this.#log = log;
    this.#merged = new MergedCalls({
      mergeMs: MERGE_MS,
      maxCalls: MAX_BATCHES,
      work: async (entries) => {
        const fenced = await repository.store(entries);
        return entries.map(({ session }) => (fenced.has(sessionKeyOf(session)) ? 'FENCED' : 'STORED'));
      },
    });
  }

  async add(entry: EventEntry, isOpen: () => boolean): Promise<EventResult> {
    while (isOpen()) {
      try {
        return await this.#merged.add(entry);
      } catch (error) {
        if (isAboutContent(error)) return this.#leaveOut(entry, error);
        this.#log.warn({ err: error }, 'events could not be stored; they are tried again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return 'ENDED';
  }

  #leaveOut({ session, items }: EventEntry, error: unknown): EventResult {
    const { agentId } = session;
    this.#log.error({ err: error, agentId, count: items.length }, 'events that cannot be stored are left out');
    return 'STORED';
  }
}
