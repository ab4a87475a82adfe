/**
 * One HTTP exchange. Resolves with status, headers and text for every answer, good or bad; rejects with a KubeError when
 * no complete answer came. An abort or a time-out ends it at once, even while it still waits for a connection. Three
 * limits: on connecting, on silence, and (not for watches) on the whole.
 */
import type { Agent, IncomingHttpHeaders, IncomingMessage, ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { errorOfTransport } from './error-of-transport.ts';
import { KubeError } from './kube-error.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** For the whole exchange; undefined: none (watches). */
  readonly timeoutMs?: number;
  /** Longest wait for the answer's head, and longest silence in its body. */
  readonly silenceMs: number;
  /** When given, the body of a 2xx answer goes here in chunks and `text` stays empty. A throw ends the exchange. */
  readonly onChunk?: (chunk: Uint8Array) => void;
  readonly onOpen?: () => void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Where requests go: one agent holds the connections and the TLS material. */
export interface HttpTarget {
  readonly origin: URL;
  readonly agent: Agent;
}

const CONNECT_TIMEOUT_MS = 5_000;

// An `import` evaluates all exports, also the lazy WebSocket, which loads a second HTTP client: 10 MB resident.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

export function exchangeHttp({ origin, agent }: HttpTarget, request: HttpRequest): Promise<HttpAnswer> {
  const { promise, ...settlers } = Promise.withResolvers<HttpAnswer>();
  // Let go of as soon as it is settled: Node keeps the first request of a TLS connection with all its listeners for as long
  // as that lives, and a watch's connection would keep the whole list before it.
  let waiting: typeof settlers | undefined = settlers;
  const resolve = (answer: HttpAnswer): void => {
    waiting?.resolve(answer);
    waiting = undefined;
  };
  const send = origin.protocol === 'https:' ? https.request : http.request;
  const outgoing = send(origin, {
    agent,
    method: request.method,
    path: request.path,
    headers: bodyHeaders(request),
  });
  const what = `${request.method} ${request.path.split('?')[0] ?? ''}`;
  const end = (error: unknown): void => {
    waiting?.reject(errorOfTransport(what, error));
    waiting = undefined;
    // Without the error: the socket may be idle again already, with nobody left to listen.
    outgoing.destroy();
  };
  const limits = startLimits(request, what, end);
  outgoing.on('error', end);
  outgoing.on('socket', (socket) => limitConnecting(socket, outgoing, what, end));
  outgoing.on('response', (incoming) => {
    limits.heard();
    collectAnswer(incoming, request, { resolve, end, heard: limits.heard });
  });
  outgoing.end(request.body);
  return promise.finally(limits.release);
}

const bodyHeaders = ({ headers, body }: HttpRequest): Record<string, string | number> => ({
  ...headers,
  ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
});

/** `release` takes timers and listeners away again: signals live as long as the process, requests do not. */
function startLimits(request: HttpRequest, what: string, end: (error: KubeError) => void) {
  const { signal, timeoutMs, silenceMs } = request;
  const onAbort = (): void => end(new KubeError({ reason: 'ABORTED', message: `${what} was aborted` }));
  const timeOut = (ms: number, text: string) =>
    setTimeout(() => end(new KubeError({ reason: 'TIMEOUT', message: `${what}: ${text} ${ms} ms` })), ms);
  const whole = timeoutMs === undefined ? undefined : timeOut(timeoutMs, 'no answer within');
  const silence = timeOut(silenceMs, 'nothing heard for');
  if (signal?.aborted) queueMicrotask(onAbort);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    heard: () => void silence.refresh(),
    release() {
      clearTimeout(whole);
      clearTimeout(silence);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** A host that swallows packets, or a server that is stopped in the handshake, must not cost the whole time-out. */
function limitConnecting(
  socket: Socket & { readonly secureConnecting?: boolean },
  outgoing: ClientRequest,
  what: string,
  end: (error: KubeError) => void,
): void {
  if (!socket.connecting && socket.secureConnecting !== true) return;
  const timer = setTimeout(
    () => end(new KubeError({ reason: 'TIMEOUT', message: `${what}: no connection within ${CONNECT_TIMEOUT_MS} ms` })),
    CONNECT_TIMEOUT_MS,
  );
  const clear = (): void => clearTimeout(timer);
  socket.once(socket.secureConnecting === undefined ? 'connect' : 'secureConnect', clear);
  outgoing.once('close', clear);
}

interface Outcome {
  readonly resolve: (answer: HttpAnswer) => void;
  readonly end: (error: unknown) => void;
  readonly heard: () => void;
}

function collectAnswer(incoming: IncomingMessage, request: HttpRequest, { resolve, end, heard }: Outcome): void {
  const status = incoming.statusCode ?? 0;
  const isGood = status >= 200 && status <= 299;
  let chunks: Uint8Array[] = [];
  const keep = (chunk: Uint8Array): unknown => chunks.push(chunk);
  const take = isGood ? (request.onChunk ?? keep) : keep;
  const guarded = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      end(error);
    }
  };
  if (isGood && request.onOpen !== undefined) guarded(request.onOpen);
  incoming.on('data', (chunk: Uint8Array) => {
    heard();
    guarded(() => take(chunk));
  });
  incoming.on('error', end);
  incoming.on('close', () => {
    if (!incoming.complete) return end(Object.assign(new Error('the connection was cut'), { code: 'ECONNRESET' }));
    resolve({ status, headers: incoming.headers, text: Buffer.concat(chunks).toString('utf8') });
    chunks = [];
  });
}
