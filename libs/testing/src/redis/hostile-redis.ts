/**
 * A server as a tenant's own image may be: it takes a connection and answers with what never ends. `login`: it plays along
 * with HELLO and AUTH first. Counts what it could send, which is what the other side let it.
 */
import { createServer, type Server, type Socket } from 'node:net';

const BLOCK = 'x'.repeat(64 * 1024);

/** What is sent at the first command, and then again and again; `everyMs`: with a pause before each. */
interface Behaviour {
  readonly first: string;
  readonly again?: string;
  readonly everyMs?: number;
}

export const HOSTILE_ANSWERS = {
  'a line that never ends': { first: '+', again: BLOCK },
  'an error that never ends': { first: '-ERR ', again: BLOCK },
  'a text of a terabyte': { first: '$1000000000000\r\n', again: BLOCK },
  'a text of no possible length': { first: `$${'9'.repeat(30)}\r\n`, again: BLOCK },
  'a list of a thousand million': { first: '*1000000000\r\n', again: ':1\r\n'.repeat(10_000) },
  'a map of a thousand million': { first: '%1000000000\r\n', again: '+a\r\n:1\r\n'.repeat(10_000) },
  'lists in lists without end': { first: '*1\r\n', again: '*1\r\n'.repeat(1_000) },
  'many small lists in one': { first: '*16000\r\n', again: '*0\r\n'.repeat(1_000) },
  'attributes without end': { first: '|1\r\n+a\r\n', again: '|1\r\n+a\r\n'.repeat(1_000) },
  'messages without end': { first: '', again: '>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n'.repeat(500) },
  'replies that nobody asked for': { first: '', again: '+OK\r\n'.repeat(5_000) },
  'no RESP at all': { first: 'HTTP/1.1 200 OK\r\n', again: BLOCK },
  'a byte a moment': { first: '$100\r\n', again: 'x', everyMs: 50 },
  nothing: { first: '' },
} satisfies Record<string, Behaviour>;
export type HostileAnswer = keyof typeof HOSTILE_ANSWERS;

export interface HostileRedis {
  readonly port: number;
  /** Over all connections, as far as the other side took it. */
  readonly sentBytes: number;
  readonly connections: number;
  stop(): Promise<void>;
}

export const startHostileRedis = async (
  answer: HostileAnswer,
  { login = true }: { readonly login?: boolean } = {},
): Promise<HostileRedis> => {
  const sockets: Socket[] = [];
  const behaviour: Behaviour = HOSTILE_ANSWERS[answer];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    serve(socket, behaviour, login);
  });
  await listen(server);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get sentBytes() {
      return sockets.reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0);
    },
    get connections() {
      return sockets.length;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

const listen = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve());
  });

function serve(socket: Socket, behaviour: Behaviour, login: boolean): void {
  let begun = false;
  socket.on('data', (chunk) => {
    if (begun) return;
    if (login && /\r\n(?:HELLO|AUTH)\r\n/i.test(chunk.toString('latin1'))) {
      socket.write(/HELLO/i.test(chunk.toString('latin1')) ? '%1\r\n+proto\r\n:3\r\n' : '+OK\r\n');
      return;
    }
    begun = true;
    socket.write(behaviour.first);
    flood(socket, behaviour);
  });
}

/** As fast as the other side reads, until the connection ends. */
function flood(socket: Socket, behaviour: Behaviour): void {
  const { again, everyMs } = behaviour;
  if (again === undefined || socket.destroyed) return;
  const next = (): void => flood(socket, behaviour);
  if (everyMs !== undefined) {
    socket.write(again);
    setTimeout(next, everyMs).unref();
  } else if (socket.write(again)) setImmediate(next);
  else socket.once('drain', next);
}
