/** Bytes to the API over TLS as they are, as no well-behaved client would send them. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

import type { TestHub } from './start-test-hub.ts';

export class RawRequest {
  readonly socket: TLSSocket;
  readonly #closed: Promise<unknown>;
  #text = '';

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    this.#closed = new Promise((done) => socket.once('close', done));
    // A connection that is cut off while it sends.
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (text: string) => (this.#text += text));
  }

  static async open(hub: TestHub): Promise<RawRequest> {
    const { hostname, port } = new URL(hub.ready.apiUrl);
    const raw = new RawRequest(connect({ host: hostname, port: Number(port), ca: hub.runtime.tls.caCertificate }));
    await once(raw.socket, 'secureConnect');
    return raw;
  }

  send(...lines: string[]): this {
    this.socket.write(lines.join('\r\n'));
    return this;
  }

  get text(): string {
    return this.#text;
  }

  /** All that came until the hub closed the connection. */
  async untilClosed(): Promise<string> {
    await this.#closed;
    return this.#text;
  }
}
