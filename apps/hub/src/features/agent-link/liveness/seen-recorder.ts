/**
 * When each agent was last heard. Any frame counts; what was heard is kept in memory and flushed in multi-row updates
 * each 5 s, since a write for each heartbeat would be the fleet's largest load (03 rule 13). Each update is of a part:
 * the ids of ten thousand agents in one would hold up everything else this replica does while they are written out. An
 * agent whose row cannot be written is set apart: it falls silent for people, and nobody else does.
 */
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';

import { inHalves } from '../../../platform/database/in-halves.ts';
import type { SetApart } from '../../../platform/database/set-apart.ts';

const FLUSH_MS = 5_000;
const AGENTS_PER_UPDATE = 2_000;

export class SeenRecorder {
  readonly #dataSource: DataSource;
  readonly #log: Logger;
  readonly #apart: SetApart;
  #heard = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(dataSource: DataSource, log: Logger, apart: SetApart) {
    this.#dataSource = dataSource;
    this.#log = log;
    this.#apart = apart;
  }

  note(agentId: string): void {
    this.#heard.add(agentId);
    this.#timer ??= setTimeout(() => {
      this.#flushing = this.flush().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'heartbeats were not written'),
      );
    }, FLUSH_MS).unref();
  }

  /** The database's clock is the only one that judges liveness. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const heard = [...this.#heard].filter((agentId) => !this.#apart.waits(agentId)).sort();
    this.#heard = new Set();
    for (let from = 0; from < heard.length; from += AGENTS_PER_UPDATE) {
      try {
        await this.#writeApart(heard.slice(from, from + AGENTS_PER_UPDATE));
      } catch (error) {
        // Told with the next ones: within 45 s nobody is LATE for it.
        for (const agentId of heard.slice(from)) this.#heard.add(agentId);
        throw error;
      }
    }
  }

  async #writeApart(agentIds: readonly string[]): Promise<void> {
    const failed = await inHalves(agentIds, (some) => this.#write(some));
    for (const { entry, error } of failed) this.#apart.fail(entry, error);
    if (this.#apart.size === 0) return;
    const bad = new Set(failed.map(({ entry }) => entry));
    for (const agentId of agentIds) if (!bad.has(agentId)) this.#apart.pass(agentId);
  }

  #write(agentIds: readonly string[]): Promise<unknown> {
    return this.#dataSource.query('UPDATE agent_seen SET seen_at = now() WHERE agent_id = ANY($1::uuid[])', [agentIds]);
  }

  async stop(): Promise<void> {
    await this.#flushing;
    await this.flush().catch(() => undefined);
  }
}
