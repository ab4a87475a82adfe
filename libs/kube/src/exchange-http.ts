/**
 * One HTTP exchange on an undici pool, by its dispatch interface: no streams, no fetch. Resolves with status, headers and
 * text for every answer, good or bad; rejects with a KubeError when no complete answer came. An abort or time-out ends
 * the exchange at once, even while it still waits for a connection.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
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

export function exchangeHttp(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  let controller: Dispatcher.DispatchController | undefined;
  let ended: KubeError | undefined;
  const end = (error: KubeError): void => {
    ended ??= error;
    controller?.abort(error);
    reject(error);
  };
  const release = endOnAbortOrTimeout(request, end);
  const handler = collectAnswer(request, resolve, (error) => end(toKubeError(error, request)));
  dispatcher.dispatch(
    {
      method: request.method,
      path: request.path,
      headers: request.headers,
      body: request.body ?? null,
      headersTimeout: request.silenceMs,
      bodyTimeout: request.silenceMs,
    },
    {
      ...handler,
      onRequestStart(started) {
        controller = started;
        if (ended !== undefined) started.abort(ended);
      },
    },
  );
  return promise.finally(release);
}

/** Returns what takes the timer and the listener away again: signals live as long as the process, requests do not. */
function endOnAbortOrTimeout(request: HttpRequest, end: (error: KubeError) => void): () => void {
  const what = describe(request);
  const onAbort = (): void => end(new KubeError({ reason: 'ABORTED', message: `${what} was aborted` }));
  if (request.signal?.aborted) queueMicrotask(onAbort);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  const timer =
    request.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          end(new KubeError({ reason: 'TIMEOUT', message: `${what}: no answer within ${request.timeoutMs} ms` }));
        }, request.timeoutMs);
  return () => {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', onAbort);
  };
}

function collectAnswer(
  request: HttpRequest,
  resolve: (answer: HttpAnswer) => void,
  fail: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  const chunks: Uint8Array[] = [];
  let stream: ((chunk: Uint8Array) => void) | undefined;
  const guarded = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      fail(error);
    }
  };
  return {
    onResponseStart(_controller, statusCode, received) {
      status = statusCode;
      headers = received;
      if (status < 200 || status > 299) return;
      stream = request.onChunk;
      guarded(() => request.onOpen?.());
    },
    onResponseData(_controller, chunk) {
      if (stream === undefined) chunks.push(chunk);
      else guarded(() => stream?.(chunk));
    },
    onResponseEnd() {
      resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') });
    },
    onResponseError(_controller, error) {
      fail(error);
    },
  };
}

const describe = (request: HttpRequest): string => `${request.method} ${request.path.split('?')[0] ?? ''}`;

const REASON_BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'REFUSED',
  ECONNRESET: 'CLOSED',
  EPIPE: 'CLOSED',
  UND_ERR_SOCKET: 'CLOSED',
  UND_ERR_CLOSED: 'CLOSED',
  UND_ERR_DESTROYED: 'CLOSED',
  ETIMEDOUT: 'TIMEOUT',
  UND_ERR_CONNECT_TIMEOUT: 'TIMEOUT',
  UND_ERR_HEADERS_TIMEOUT: 'TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'TIMEOUT',
};
const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/;

function toKubeError(error: unknown, request: HttpRequest): KubeError {
  if (error instanceof KubeError) return error;
  const code = String((error as { code?: unknown } | undefined)?.code ?? '');
  const reason = REASON_BY_CODE[code] ?? (TLS_CODE.test(code) ? 'TLS' : 'UNREACHABLE');
  const text = error instanceof Error ? error.message : String(error);
  return new KubeError({
    reason,
    message: `${describe(request)}: ${text}${code === '' ? '' : ` (${code})`}`,
    cause: error,
  });
}
