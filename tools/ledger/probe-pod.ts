import { connect, type Socket } from 'node:net';

export interface PodProbeOptions {
  readonly host: string;
  readonly port: number;
  readonly credentials: () => { readonly username: string; readonly password: string };
  readonly key: string;
  readonly periodMs: number;
  /** An OK, at the moment it is read. */
  readonly onAccepted: (now: number) => void;
  /** Any other answer, or the end of the connection. */
  readonly onRefused: () => void;
}

const RECONNECT_MS = 20;
/** A silent connection is given up after this; a pause of clients in a switchover is shorter. */
const SILENT_MS = 3_000;

/**
 * One `SET` every period at one pod, over a plain socket with one command in flight: it follows no redirection, resends
 * nothing and knows no Sentinel, so it sees what the engine itself does. An answer counts when it arrives.
 */
export class PodProbe {
  readonly #options: PodProbeOptions;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #loggedIn = false;
  #sentAt = 0;

  constructor(options: PodProbeOptions) {
    this.#options = options;
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  #connect(): void {
    const { host, port } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    this.#loggedIn = false;
    socket.setTimeout(SILENT_MS, () => socket.destroy());
    socket.on('connect', () => this.#login(socket));
    socket.on('data', (data) => this.#take(data.toString('latin1')));
    socket.on('error', () => undefined); // `close` follows
    socket.on('close', () => {
      this.#options.onRefused();
      this.#after(RECONNECT_MS, () => this.#connect());
    });
  }

  #login(socket: Socket): void {
    const { username, password } = this.#options.credentials();
    socket.write(formatCommand(['AUTH', username, password]));
  }

  #take(answer: string): void {
    const isOk = answer.startsWith('+OK');
    if (!this.#loggedIn) {
      if (!isOk) this.#socket?.destroy(); // a password that has just been changed: the next attempt reads it again
      this.#loggedIn = isOk;
    } else if (isOk) {
      this.#options.onAccepted(performance.now());
    } else {
      this.#options.onRefused();
    }
    if (this.#loggedIn) this.#next();
  }

  #next(): void {
    const due = this.#sentAt + this.#options.periodMs - performance.now();
    this.#after(Math.max(0, due), () => {
      this.#sentAt = performance.now();
      this.#socket?.write(formatCommand(['SET', this.#options.key, '1']));
    });
  }

  #after(ms: number, run: () => void): void {
    clearTimeout(this.#timer);
    if (!this.#closed) this.#timer = setTimeout(run, ms);
  }
}

const formatCommand = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
