/**
 * Writes whether each agent sees its API server: the first change at once with those of others, further ones of the same
 * agent at most every 5 s, and none that was taken back meanwhile. An API server that comes and goes would else cost the
 * hub an UPDATE with each heartbeat of everyone behind it.
 */
import type { Logger } from 'pino';

import { inHalves } from '../../../platform/database/in-halves.ts';
import type { SetApart } from '../../../platform/database/set-apart.ts';
import type { SessionKey } from './session-key.ts';

const MERGE_MS = 250;
const PAUSE_MS = 5_000;

export interface InventoryNote extends SessionKey {
  readonly inventory: 'SYNCED' | 'UNKNOWN';
}

export interface InventoryRecorderParts {
  readonly write: (notes: readonly InventoryNote[]) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: Logger;
  readonly apart: SetApart;
}

export class InventoryRecorder {
  readonly #parts: InventoryRecorderParts;
  readonly #noted = new Map<string, InventoryNote>();
  readonly #written = new Map<string, InventoryNote & { readonly atMs: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: InventoryRecorderParts) {
    this.#parts = parts;
  }

  note({ agentId, sessionNo, inventory }: InventoryNote): void {
    this.#noted.set(agentId, { agentId, sessionNo, inventory });
    this.#flushLater(MERGE_MS);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#noted.size > 0) await this.#parts.write([...this.#noted.values()]).catch(() => undefined);
  }

  #flushLater(inMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, inMs).unref();
  }

  async #flush(): Promise<void> {
    const nowMs = this.#parts.nowMs();
    for (const [agentId, { atMs }] of this.#written) if (nowMs - atMs >= PAUSE_MS) this.#written.delete(agentId);
    const due = [...this.#noted.values()].filter((note) => {
      const last = this.#written.get(note.agentId);
      return (last === undefined || last.sessionNo !== note.sessionNo) && !this.#parts.apart.waits(note.agentId);
    });
    for (const note of due) {
      this.#noted.delete(note.agentId);
      this.#written.set(note.agentId, { ...note, atMs: nowMs });
    }
    for (const [agentId, note] of this.#noted)
      if (this.#written.get(agentId)?.inventory === note.inventory) this.#noted.delete(agentId);
    await this.#write(due);
    if (this.#noted.size > 0) this.#flushLater(PAUSE_MS / 5);
  }

  async #write(notes: readonly InventoryNote[]): Promise<void> {
    if (notes.length === 0) return;
    const { write, log, apart } = this.#parts;
    try {
      const failed = await inHalves(notes, write);
      for (const { entry, error } of failed) apart.fail(entry.agentId, error);
      this.#noteAgain(failed.map(({ entry }) => entry));
      for (const { agentId } of notes) if (!apart.waits(agentId)) apart.pass(agentId);
    } catch (error) {
      log.warn({ err: error }, 'who sees its API server was not written; it is tried again');
      this.#noteAgain(notes);
    }
  }

  #noteAgain(notes: readonly InventoryNote[]): void {
    for (const note of notes) {
      this.#written.delete(note.agentId);
      if (!this.#noted.has(note.agentId)) this.#noted.set(note.agentId, note);
    }
  }
}
