/** A WebSocket to the API that sends what it likes, as no well-behaved client would. */
import { once } from 'node:events';
import WebSocket from 'ws';

import type { TestHub } from './start-test-hub.ts';

export class RawSocket {
  readonly socket: WebSocket;
  readonly received: string[] = [];
  /** The code that the hub closed it with; 1006: cut off without one. */
  readonly closed: Promise<number>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((done) => socket.once('close', done));
    // A connection that is cut off while it sends.
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => this.received.push(data.toString()));
  }

  static async open(hub: TestHub, protocols = ['graphql-transport-ws']): Promise<RawSocket> {
    const url = `${new URL(hub.ready.apiUrl).origin.replace(/^http/, 'ws')}/graphql`;
    const raw = new RawSocket(new WebSocket(url, protocols, { ca: hub.runtime.tls.caCertificate }));
    await once(raw.socket, 'open');
    return raw;
  }

  send(...messages: (object | string | Buffer)[]): this {
    for (const message of messages) {
      this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
    }
    return this;
  }

  /** The type of each message so far. */
  get types(): unknown[] {
    return this.received.map((text) => (JSON.parse(text) as { type: unknown }).type);
  }
}

export const initWith = (token: string): object => ({
  type: 'connection_init',
  payload: { authorization: `Bearer ${token}` },
});
