/**
 * Every socket of this replica to PostgreSQL, so that all of them can be given up at once: a replica that stops must not wait
 * for a database that hangs. What was asked there fails in the moment, new connections fail as well, and each piece of work
 * ends by the way it has for a failed statement. Nothing acknowledged can be lost by that: acks follow commits.
 */
import { Socket } from 'node:net';

export class DatabaseSockets {
  readonly #open = new Set<Socket>();
  #isGivenUp = false;

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** The `stream` of pg's settings. */
  readonly make = (): Socket => {
    const socket = this.#isGivenUp ? new RefusedSocket() : new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  };

  giveUp(): void {
    this.#isGivenUp = true;
    for (const socket of this.#open) socket.destroy(givenUp());
  }
}

class RefusedSocket extends Socket {
  override connect(): this {
    process.nextTick(() => this.destroy(givenUp()));
    return this;
  }
}

const givenUp = (): Error => new Error('Connection terminated: the replica stops and has given up its database');
