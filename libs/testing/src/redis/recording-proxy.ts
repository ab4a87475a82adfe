/**
 * The other side of the agent's setting ATOLL_TEST_REDIS_PROXY: dials for it, passes everything on as it is, ends of
 * connections too, and records every command with its secrets left out. MONITOR would not do: it hides administrative
 * commands, which are the ones that matter.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CommandReader } from './command-reader.ts';
import { redactCommand } from './redact-command.ts';

export interface RecordedCommand {
  /** `host:port` of the server it was sent to. */
  readonly target: string;
  /** In capitals where it is a command's or subcommand's name; secrets are `***`. */
  readonly words: readonly string[];
  readonly atMs: number;
}

/** First word of the entry for a connection that did not come about; the second is the code. */
export const NOT_CONNECTED = 'not connected';

const PRELUDE = /^CONNECT (.+):(\d+)\n/;

export class RecordingProxy {
  readonly commands: RecordedCommand[] = [];
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#accept(client));
  }

  /** `host`: where the agent reaches this machine. */
  static async start(host = '127.0.0.1'): Promise<RecordingProxy> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, host, resolve);
    });
    return new RecordingProxy(server);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    this.#track(client);
    let waiting = Buffer.alloc(0);
    const onData = (data: Buffer): void => {
      waiting = Buffer.concat([waiting, data]);
      const match = PRELUDE.exec(waiting.toString('latin1'));
      if (match === null) return;
      client.off('data', onData);
      client.pause();
      const [prelude, host = '', port = ''] = match;
      this.#dial(client, { host, port: Number(port) }, waiting.subarray(prelude.length));
    };
    client.on('data', onData);
  }

  #dial(client: Socket, target: { host: string; port: number }, first: Buffer): void {
    const server = connect({ ...target, noDelay: true });
    this.#track(server);
    let reached = false;
    server.once('connect', () => {
      reached = true;
      client.write('OK\n');
      this.#join(client, server, `${target.host}:${target.port}`, first);
    });
    server.on('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'ECONNREFUSED';
      if (!reached) {
        this.#record(`${target.host}:${target.port}`, [NOT_CONNECTED, code]);
        client.end(`${code}\n`);
      } else if (error.code === 'ECONNRESET') client.resetAndDestroy();
      else client.destroy();
    });
    server.on('close', () => client.end());
    client.on('close', () => server.destroy());
  }

  #join(client: Socket, server: Socket, target: string, first: Buffer): void {
    const reader = new CommandReader((words) => this.#record(target, redactCommand(words)));
    const pass = (data: Buffer): void => {
      reader.push(data);
      server.write(data);
    };
    if (first.length > 0) pass(first);
    client.on('data', pass);
    client.resume();
    server.pipe(client, { end: false });
  }

  #record(target: string, words: readonly string[]): void {
    this.commands.push({ target, words, atMs: performance.now() });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // `close` follows
  }
}
