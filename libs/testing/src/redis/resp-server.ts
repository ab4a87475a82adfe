/** A TCP server that speaks RESP2: reads commands as arrays of bulk strings and writes what a handler answers. */
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/** What a handler may answer. An Error becomes a RESP error with its message, SILENT no answer at all. */
export type RespValue = string | number | null | Error | typeof SILENT | readonly RespValue[];
export const SILENT = Symbol('silent');

/** One connection's own state, for AUTH. */
export interface RespSession {
  authenticated: boolean;
}
export type RespHandler = (command: readonly string[], session: RespSession) => RespValue;

export interface RespServer {
  readonly port: number;
  /** Every command received, in order, without the arguments of AUTH. */
  readonly received: readonly (readonly string[])[];
  /** Ends every open connection with FIN, or with RST. */
  dropConnections(how: 'FIN' | 'RST'): void;
  stop(): Promise<void>;
}

/** Listens on 127.0.0.1, port 0 for any. */
export const startRespServer = async (handler: RespHandler, port = 0): Promise<RespServer> => {
  const sockets = new Set<Socket>();
  const received: (readonly string[])[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    serve(socket, handler, received);
  });
  await listen(server, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    received,
    dropConnections: (how) => {
      for (const socket of sockets)
        if (how === 'FIN') socket.end();
        else socket.resetAndDestroy();
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });

const serve = (socket: Socket, handler: RespHandler, received: (readonly string[])[]): void => {
  const session: RespSession = { authenticated: false };
  let pending = '';
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (let parsed = takeCommand(pending); parsed !== undefined; parsed = takeCommand(pending)) {
      pending = parsed.rest;
      const name = parsed.command[0]?.toUpperCase() ?? '';
      received.push(name === 'AUTH' ? ['AUTH'] : parsed.command);
      const answer = handler(parsed.command, session);
      if (answer !== SILENT) socket.write(formatResp(answer), 'latin1');
    }
  });
};

/** The first whole command of the text and what follows it; undefined when none is whole yet. */
const takeCommand = (text: string): { command: readonly string[]; rest: string } | undefined => {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  let position = head[0].length;
  const command: string[] = [];
  for (let index = 0; index < Number(head[1]); index += 1) {
    const bulk = /^\$(\d+)\r\n/.exec(text.slice(position));
    if (bulk === null) return undefined;
    const start = position + bulk[0].length;
    const end = start + Number(bulk[1]);
    if (text.length < end + 2) return undefined;
    command.push(text.slice(start, end));
    position = end + 2;
  }
  return { command, rest: text.slice(position) };
};

const formatResp = (value: RespValue): string => {
  if (value === SILENT) return '';
  if (value === null) return '$-1\r\n';
  if (value instanceof Error) return `-${value.message}\r\n`;
  if (typeof value === 'number') return `:${value}\r\n`;
  if (typeof value === 'string') return value === 'OK' ? '+OK\r\n' : `$${value.length}\r\n${value}\r\n`;
  return `*${value.length}\r\n${value.map(formatResp).join('')}`;
};
