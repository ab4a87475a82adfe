/** One agent's connection at the fake hub: everything it sent, in order, and the means to answer as a test likes. */
import { encodeFrame, parseAgentFrame } from '#protocol';
import type { AgentMessage, AgentPayloads, HubMessage, HubPayloads, StatusBatch } from '#protocol';
import type { WebSocket } from 'ws';

type Waiter = () => void;

export class FakeHubConnection {
  /** Messages in order of arrival. */
  readonly received: AgentMessage[] = [];
  /** The Host header of the request. */
  readonly host: string;
  /** StatusBatch and EventBatch are acked at once; off for tests of windows and lost acks. */
  acksStatus = true;
  /** Whether a status digest is that of what the hub has stored; a hub of before never says so. */
  knowsStatus: (digest: string) => boolean = () => false;
  readonly #socket: WebSocket;
  readonly #waiters = new Set<Waiter>();
  readonly #taken = new Set<AgentMessage>();
  #nonce = 0;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  isClosed = false;

  constructor(socket: WebSocket, host: string, onMessage: (message: AgentMessage) => void) {
    this.#socket = socket;
    this.host = host;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        this.isClosed = true;
        this.#wake();
        resolve(code);
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const parsed = parseAgentFrame(data as Buffer);
      if (!parsed.ok) throw new Error(`the agent sent a bad frame: ${JSON.stringify(parsed.error)}`);
      this.received.push(parsed.message);
      onMessage(parsed.message);
      this.#acknowledge(parsed.message);
      this.#wake();
    });
  }

  /** Returns the nonce that the answer will carry. */
  send<T extends keyof HubPayloads>(type: T, payload: HubPayloads[T], nonce?: string): string {
    this.#nonce += 1;
    const used = nonce ?? `h${this.#nonce}`;
    this.#socket.send(encodeFrame({ type, nonce: used, payload } as HubMessage));
    return used;
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** The next message of this type that no earlier call has taken. Rejects when it does not come in time. */
  async next<T extends keyof AgentPayloads>(
    type: T,
    fits: (payload: AgentPayloads[T]) => boolean = () => true,
    timeoutMs = 8_000,
  ): Promise<AgentPayloads[T]> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = this.received.find(
        (message) => message.type === type && !this.#taken.has(message) && fits(message.payload as AgentPayloads[T]),
      );
      if (found !== undefined) {
        this.#taken.add(found);
        return found.payload as AgentPayloads[T];
      }
      if (this.isClosed) throw new Error(`the connection closed before a ${type} came`);
      if (Date.now() >= deadline) throw new Error(`no ${type} came within ${timeoutMs} ms`);
      await this.#waitForNews(deadline - Date.now());
    }
  }

  /** Default: going away. */
  close(code = 1001): void {
    this.#socket.close(code);
  }

  /** Gone without a word to the agent's WebSocket, as a killed process. */
  terminate(): void {
    this.#socket.terminate();
  }

  #acknowledge(message: AgentMessage): void {
    if (!this.acksStatus) return;
    if (message.type === 'StatusBatch') this.#acknowledgeStatus(message.payload, message.nonce);
    if (message.type === 'EventBatch') this.send('EventAck', { counter: message.payload.counter }, message.nonce);
  }

  #acknowledgeStatus({ counter, statusDigest }: StatusBatch, nonce: string): void {
    const inSync = statusDigest !== undefined && this.knowsStatus(statusDigest);
    this.send('StatusAck', { counter, ...(inSync ? { inSync } : {}) }, nonce);
  }

  #waitForNews(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiters.add(done);
    });
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }
}
