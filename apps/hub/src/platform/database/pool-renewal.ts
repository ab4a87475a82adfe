/**
 * Opens the connections of the pools again. Those that lead to a standby take no writes for as long as they are kept, while
 * the address leads to the new primary already, and a busy pool keeps its connections for ever. Idle ones are ended at
 * once, the others when their work is done: what reads there may end well.
 */
import type { Client, Pool } from 'pg';

/** Each of them costs the server a process and a login. */
const AT_MOST_EVERY_MS = 1_000;

export class PoolRenewal {
  readonly #nowMs: () => number;
  readonly #pools: PoolConnections[] = [];
  #renewedMs = -Infinity;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  include(connections: PoolConnections): void {
    this.#pools.push(connections);
  }

  renew(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#renewedMs < AT_MOST_EVERY_MS) return;
    this.#renewedMs = nowMs;
    for (const connections of this.#pools) connections.renew();
  }
}

/** The connections of one pool, by whether somebody works on them. */
export class PoolConnections {
  readonly #idle = new Set<Client>();
  readonly #busy = new Set<Client>();
  readonly #stale = new WeakSet<Client>();

  /** The pool has opened it, and somebody has it. */
  add(client: Client): void {
    this.#idle.delete(client);
    this.#busy.add(client);
  }

  /** When nobody has a connection of the pool. */
  watch(pool: Pool): void {
    for (const client of this.#busy) this.#idle.add(client);
    this.#busy.clear();
    pool.on('acquire', (client) => this.add(client as unknown as Client));
    pool.on('release', (_error, client) => this.#release(client as unknown as Client));
    pool.on('remove', (client) => {
      this.#idle.delete(client);
      this.#busy.delete(client);
    });
  }

  renew(): void {
    for (const client of this.#busy) this.#stale.add(client);
    for (const client of this.#idle) cut(client);
    this.#idle.clear();
  }

  /** Before the pool decides whether to keep it: one that is ending is not kept. */
  #release(client: Client): void {
    this.#busy.delete(client);
    if (this.#stale.has(client)) void client.end().catch(() => undefined);
    else this.#idle.add(client);
  }
}

/** The pool lets go of an idle connection that breaks; one that was ended it would hand out. */
function cut(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(error: Error): void } } };
  connection.stream.destroy(new Error('Connection terminated: it led to a database that takes no writes'));
}
