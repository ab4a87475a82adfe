/**
 * A TCP proxy with the faults of a network between agent and hub: it cuts, delays per direction, refuses, falls silent
 * without closing (half-open), and reorders connections: a newer one reaches the target before an older one, and
 * what an old one sent arrives after the newer one began.
 */
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { FaultConnection } from './fault-connection.ts';
import type { Direction, ProxyTarget } from './fault-connection.ts';

export class FaultProxy {
  /** All that were accepted, oldest first, closed ones too. */
  readonly connections: FaultConnection[] = [];
  readonly #server: Server;
  #target: ProxyTarget;
  #frozen: Direction | undefined;
  readonly #delays = { up: 0, down: 0 };
  #refusing = false;
  #holdsNew = false;
  #onAccept: (connection: FaultConnection) => void = () => undefined;

  private constructor(server: Server, target: ProxyTarget) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => this.#accept(client));
  }

  static async start(targetHost: string, targetPort: number): Promise<FaultProxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new FaultProxy(server, { host: targetHost, port: targetPort });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** host:port to dial. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get targetPort(): number {
    return this.#target.port;
  }

  get accepted(): number {
    return this.connections.length;
  }

  /** Those that are not closed on both sides, oldest first. */
  get open(): readonly FaultConnection[] {
    return this.connections.filter((connection) => connection.isOpen);
  }

  /** Where new connections go from now on, for instance to another replica or a restarted hub. */
  pointAt(host: string, port: number): void {
    this.#target = { host, port };
  }

  /** Half-open: nothing passes on what is open and on what is dialled from now on, and nobody is told. */
  freeze(direction: Direction = 'BOTH'): void {
    this.#frozen = direction;
    for (const connection of this.open) connection.hold(direction);
  }

  /** New connections pass again. The frozen ones stay dead until each is released or cut. */
  thaw(): void {
    this.#frozen = undefined;
  }

  /** What all of them held arrives now. */
  release(): void {
    this.thaw();
    for (const connection of this.open) connection.release();
  }

  /** Each byte arrives so much later, on all connections. */
  delay(ms: number, direction: Direction = 'BOTH'): void {
    if (direction !== 'DOWN') this.#delays.up = ms;
    if (direction !== 'UP') this.#delays.down = ms;
    for (const connection of this.open) connection.delay(ms, direction);
  }

  /** New connections break at once. */
  refuse(): void {
    this.#refusing = true;
  }

  admit(): void {
    this.#refusing = false;
  }

  cut(): void {
    for (const connection of this.open) connection.cut();
  }

  /** New connections are accepted but not dialled on, until `letThrough`: later ones can overtake them. */
  holdNew(): void {
    this.#holdsNew = true;
  }

  /** Connections dial on at once again; the held ones only when they are given here. */
  letThrough(...held: readonly FaultConnection[]): void {
    this.#holdsNew = false;
    for (const connection of held) connection.dial(this.#target);
  }

  /** The next connection, when it was accepted. */
  next(): Promise<FaultConnection> {
    return new Promise((resolve) => {
      this.#onAccept = resolve;
    });
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#refusing) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const connection = new FaultConnection(client);
    this.connections.push(connection);
    connection.delay(this.#delays.up, 'UP');
    connection.delay(this.#delays.down, 'DOWN');
    if (this.#frozen !== undefined) connection.hold(this.#frozen);
    if (!this.#holdsNew) connection.dial(this.#target);
    this.#onAccept(connection);
  }
}
