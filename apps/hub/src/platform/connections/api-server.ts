/**
 * The listener of the API, below the framework: what holds for every request, before a route is looked for or a byte of a
 * body is read. Bodies are read on one path only, where the token comes first (graphql-options.ts); a peer asks one thing at
 * a time; every answer has the headers of security. Otherwise anyone could have a megabyte parsed at a path that
 * does not exist, or a thousand requests of one packet answered at once.
 */
import { ownValue } from '#domain';
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';

import { isKnown } from './watch-strangers.ts';

export const GRAPHQL_PATH = '/graphql';

/** Anyone who does not finish TLS, the head of a request, or the request in time is cut off, looked for now and then. */
const PATIENCE = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  /** Above the 60 s after which common proxies give up idle connections: then it is not we who close one that they just use. */
  keepAliveTimeout: 72_000,
};
/** Of a connection on which nothing moves: whoever does not read an answer has it kept here. WebSockets have their pings. */
const STALLED_MS = 120_000;
const MAX_HEAD_BYTES = 16 * 1024;
/** Of one connection. Clients wait for an answer before they ask again; HTTP lets them not. */
const MAX_UNANSWERED = { known: 8, stranger: 1 };

const HEADERS: Readonly<Record<string, string>> = {
  // Browsers obey it only where they trust the certificate.
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

export function createApiServer(tls: { readonly cert: string; readonly key: string }, handle: RequestListener): Server {
  const unanswered = new WeakMap<Socket, number>();
  const server = createServer({ ...tls, ...PATIENCE, maxHeaderSize: MAX_HEAD_BYTES }, (request, response) => {
    const { socket } = request;
    // Of what came in one packet, the rest is still told when the connection was ended meanwhile.
    if (socket.destroyed) return;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > MAX_UNANSWERED[isKnown(socket) ? 'known' : 'stranger']) return void socket.destroy();
    unanswered.set(socket, count);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (hasBody(request) && request.url?.split('?')[0] !== GRAPHQL_PATH) return refuseBody(response);
    handle(request, response);
  });
  return server.setTimeout(STALLED_MS);
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** And reads nothing of it. */
function refuseBody(response: ServerResponse): void {
  const body = JSON.stringify({ statusCode: 404, code: 'NOT_FOUND', message: `Send requests to ${GRAPHQL_PATH}.` });
  response.writeHead(404, { 'content-type': 'application/json', connection: 'close' }).end(body);
}

const STATUS_OF: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

/** For what is no request at all: no route sees it, and no framework adds headers to it. */
export function answerBroken(error: Error & { readonly code?: string }, socket: Socket): void {
  if (socket.writable && error.code !== 'ECONNRESET') {
    const status = ownValue(STATUS_OF, error.code ?? '') ?? 400;
    const head = Object.entries({ ...HEADERS, connection: 'close', 'content-length': '0' });
    const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`);
  }
  socket.destroy();
}
