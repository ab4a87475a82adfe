/** One connection through the proxy, both directions. TLS passes as the bytes it is. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { FaultPipe } from './fault-pipe.ts';

/** UP: from the one who dialled to the target. */
export type Direction = 'UP' | 'DOWN' | 'BOTH';

/** A host that begins with a slash is a Unix socket; its port says nothing. */
export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

export class FaultConnection {
  readonly #client: Socket;
  #target: Socket | undefined;
  #pipes: { readonly up: FaultPipe; readonly down: FaultPipe } | undefined;
  readonly #delays = { up: 0, down: 0 };
  #held = { up: false, down: false };
  isOpen = true;

  constructor(client: Socket) {
    this.#client = client;
    client.on('error', () => undefined);
    client.on('close', () => this.#endWhenBothAreClosed());
  }

  /** Bytes read from the dialler and from the target so far. */
  get bytes(): { readonly up: number; readonly down: number } {
    return { up: this.#pipes?.up.bytes ?? 0, down: this.#pipes?.down.bytes ?? 0 };
  }

  get isDialled(): boolean {
    return this.#target !== undefined;
  }

  /** Until then the dialler waits in front of an accepted connection on which nothing moves. */
  dial({ host, port }: ProxyTarget): void {
    if (this.#target !== undefined || !this.isOpen) return;
    const target = connect(
      host.startsWith('/') ? { path: host, allowHalfOpen: true } : { host, port, allowHalfOpen: true },
    );
    target.on('error', () => undefined);
    target.on('close', () => this.#endWhenBothAreClosed());
    this.#target = target;
    this.#pipes = { up: new FaultPipe(this.#client, target), down: new FaultPipe(target, this.#client) };
    this.#pipes.up.delay(this.#delays.up);
    this.#pipes.down.delay(this.#delays.down);
    if (this.#held.up) this.#pipes.up.hold();
    if (this.#held.down) this.#pipes.down.hold();
  }

  /** Half-open: nothing passes this way and nobody is told, not even that the other side is gone. */
  hold(direction: Direction = 'BOTH'): void {
    if (direction !== 'DOWN') {
      this.#held.up = true;
      this.#pipes?.up.hold();
    }
    if (direction !== 'UP') {
      this.#held.down = true;
      this.#pipes?.down.hold();
    }
  }

  /** What was held arrives now, late and in its order. */
  release(): void {
    this.#held = { up: false, down: false };
    this.#pipes?.up.release();
    this.#pipes?.down.release();
  }

  delay(ms: number, direction: Direction = 'BOTH'): void {
    if (direction !== 'DOWN') this.#delays.up = ms;
    if (direction !== 'UP') this.#delays.down = ms;
    this.#pipes?.up.delay(this.#delays.up);
    this.#pipes?.down.delay(this.#delays.down);
  }

  /** Both sides see a broken connection. */
  cut(): void {
    this.isOpen = false;
    this.#pipes?.up.stop();
    this.#pipes?.down.stop();
    this.#client.destroy();
    this.#target?.destroy();
  }

  /** The dialler's process is gone and its farewell is lost: the target goes on believing in it. */
  cutDialler(): void {
    this.hold();
    this.#client.destroy();
  }

  #endWhenBothAreClosed(): void {
    if (this.#client.destroyed && (this.#target?.destroyed ?? true)) this.isOpen = false;
  }
}
