/**
 * One direction of a proxied connection: bytes in their order, late by `delayMs`, or held back altogether. Also the end of
 * the stream waits its turn, so that a held direction tells nobody that the other side is gone.
 */
import type { Socket } from 'node:net';

/** More than this is left unread at the sender. */
const MAX_WAITING_BYTES = 256 * 1024;

interface Piece {
  /** undefined: the end of the stream; 'reset': it broke. */
  readonly data: Buffer | 'reset' | undefined;
  readonly dueAtMs: number;
}

export class FaultPipe {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #waiting: Piece[] = [];
  #waitingBytes = 0;
  #delayMs = 0;
  #held = false;
  #timer: NodeJS.Timeout | undefined;
  /** Bytes that came in, held ones included. */
  bytes = 0;

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on('data', (data) => {
      this.bytes += data.length;
      this.#waitingBytes += data.length;
      if (this.#waitingBytes > MAX_WAITING_BYTES) from.pause();
      this.#add(data);
    });
    from.on('end', () => this.#add(undefined));
    from.on('close', (hadError) => this.#add(hadError ? 'reset' : undefined));
    to.on('drain', () => this.#pump());
  }

  /** Applies to what comes from now on. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  hold(): void {
    this.#held = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** What was held goes on, in its order. */
  release(): void {
    this.#held = false;
    this.#pump();
  }

  stop(): void {
    this.hold();
    this.#waiting.length = 0;
  }

  #add(data: Piece['data']): void {
    this.#waiting.push({ data, dueAtMs: performance.now() + this.#delayMs });
    this.#pump();
  }

  #pump(): void {
    if (this.#held || this.#timer !== undefined) return;
    for (let piece = this.#waiting[0]; piece !== undefined; piece = this.#waiting[0]) {
      const waitMs = piece.dueAtMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => {
          this.#timer = undefined;
          this.#pump();
        }, waitMs);
        return;
      }
      if (piece.data instanceof Buffer && this.#to.writableNeedDrain) return;
      this.#waiting.shift();
      this.#pass(piece.data);
    }
  }

  #pass(data: Piece['data']): void {
    if (data instanceof Buffer) {
      this.#waitingBytes -= data.length;
      if (this.#waitingBytes <= MAX_WAITING_BYTES) this.#from.resume();
      if (this.#to.writable) this.#to.write(data);
    } else if (data === 'reset') this.#to.destroy();
    else this.#to.end();
  }
}
