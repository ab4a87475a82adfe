/** A TCP balancer as one stands before several replicas: in turn, and past those that refuse. TLS passes through. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class TcpBalancer {
  /** Ports on loopback; may change while it runs. What is open stays where it is. */
  targets: readonly number[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (client) => this.#accept(client, this.targets.length));
  }

  static async start(): Promise<TcpBalancer> {
    const server = createServer({ pauseOnConnect: true });
    const balancer = new TcpBalancer(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return balancer;
  }

  /** host:port to dial. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts all that is open. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    this.cut();
    await closed;
  }

  #accept(client: Socket, tries: number): void {
    const port = this.targets[(this.#turn += 1) % Math.max(1, this.targets.length)];
    client.on('error', () => undefined);
    if (port === undefined || tries <= 0) return void client.destroy();
    const server = connect(port, '127.0.0.1');
    let open = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
    server.once('connect', () => {
      open = true;
      client.pipe(server).pipe(client);
    });
    server.on('error', () => {
      if (open) client.destroy();
      else this.#accept(client, tries - 1);
    });
    server.once('close', () => open && client.destroy());
    client.once('close', () => server.destroy());
  }
}
