import { connect, type Socket } from 'node:net';
import { forEachLine } from '../setup/run-command.ts';
import type { ControlCall, ControlMessage } from './control-protocol.ts';

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

const DEFAULT_TIMEOUT_MS = 120_000;

/** Calls to one cluster's runner. When the runner is gone, all calls fail at once and say so. */
export class ControlChannel {
  readonly #clusterName: string;
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  private constructor(clusterName: string, socket: Socket, log: (line: string) => void) {
    this.#clusterName = clusterName;
    this.#socket = socket;
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#failAll());
    forEachLine(socket, (line) => this.#receive(JSON.parse(line) as ControlMessage, log));
  }

  static async open(clusterName: string, socketPath: string, log: (line: string) => void): Promise<ControlChannel> {
    const socket = connect(socketPath);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new ControlChannel(clusterName, socket, log);
  }

  async call(call: ControlCall, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<unknown> {
    if (this.#socket.destroyed) throw this.#gone();
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error(`cluster ${this.#clusterName}: no answer to "${call.call}" within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#socket.write(`${JSON.stringify({ id, ...call })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(message: ControlMessage, log: (line: string) => void): void {
    if ('log' in message) return log(message.log);
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    this.#pending.delete(message.id);
    clearTimeout(pending.timer);
    if ('error' in message) pending.reject(new Error(`cluster ${this.#clusterName}: ${message.error}`));
    else pending.resolve(message.value);
  }

  #failAll(): void {
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(this.#gone());
    }
    this.#pending.clear();
  }

  #gone(): Error {
    return new Error(`cluster ${this.#clusterName} is gone`);
  }
}
