/** A TCP proxy that can fall silent without closing (half-open), cut what is open, and refuse what is new. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export class TcpProxy {
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #server: Server;
  #frozen = false;
  accepted = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => proxy.#accept(client, targetPort));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on nothing passes, in either direction, and nobody is told. */
  freeze(): void {
    this.#frozen = true;
    for (const [client, target] of this.#pairs) {
      client.unpipe(target);
      target.unpipe(client);
      client.resume();
      target.resume();
    }
  }

  /** New connections pass again; the frozen ones stay dead. */
  thaw(): void {
    this.#frozen = false;
  }

  cut(): void {
    for (const [client, target] of this.#pairs) {
      client.destroy();
      target.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket, targetPort: number): void {
    this.accepted += 1;
    const target = connect(targetPort, '127.0.0.1');
    const pair = [client, target] as const;
    this.#pairs.add(pair);
    for (const socket of pair) socket.on('error', () => undefined);
    const end = (): void => {
      if (this.#frozen) return;
      this.#pairs.delete(pair);
      client.destroy();
      target.destroy();
    };
    client.on('close', end);
    target.on('close', end);
    if (this.#frozen) return;
    client.pipe(target);
    target.pipe(client);
  }
}
