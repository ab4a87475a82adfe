/**
 * Requests to one API server over one cached pool of connections. The pool is keyed by the bytes of CA and client
 * certificate, so that a rotation takes effect with the next request, while running watches end in their own time.
 * What breaks without the cache: a TLS handshake and a socket for every request.
 */
import type { Dispatcher, Pool as UndiciPool } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { exchangeHttp, type HttpAnswer, type HttpRequest } from './exchange-http.ts';
import type { KubeConnection, KubeCredentials } from './kube-connection.ts';
import { KubeError } from './kube-error.ts';

export type TransportRequest = Omit<HttpRequest, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

export interface KubeTransport {
  send(request: TransportRequest): Promise<HttpAnswer>;
  /** Ends all requests and connections. */
  close(): Promise<void>;
}

/** The kernel probes idle connections after this long, so that a peer that vanished is noticed in half a minute. */
const KEEP_ALIVE_PROBE_MS = 15_000;
/** Below the API server's 90 s, so that we never write into a connection it is just closing. */
const IDLE_CONNECTION_MS = 20_000;
const CONNECT_TIMEOUT_MS = 5_000;

function openPool(origin: string, credentials: KubeCredentials): UndiciPool {
  const { ca, cert, key, servername, rejectUnauthorized } = credentials;
  return new Pool(origin, {
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      rejectUnauthorized,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
    },
  });
}

export function createKubeTransport(connection: KubeConnection, userAgent: string): KubeTransport {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/$/, '');
  const pools = createPoolCache(origin);
  const attempt = async (request: TransportRequest): Promise<HttpAnswer> => {
    const credentials = await readCredentials(connection);
    return exchangeHttp(pools.poolFor(credentials), {
      ...request,
      path: `${prefix}${request.path}`,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(credentials.authorization !== undefined && { authorization: credentials.authorization }),
        ...request.headers,
      },
    });
  };
  return {
    async send(request) {
      const answer = await attempt(request);
      if (answer.status !== 401) return answer;
      connection.invalidate();
      return attempt(request);
    },
    close: () => pools.close(),
  };
}

async function readCredentials(connection: KubeConnection): Promise<KubeCredentials> {
  try {
    return await connection.credentials();
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new KubeError({ reason: 'CREDENTIALS', message: `credentials of ${connection.source}: ${text}`, cause });
  }
}

function createPoolCache(origin: string) {
  let current: { readonly key: string; readonly pool: UndiciPool } | undefined;
  const open = new Set<Dispatcher>();
  return {
    poolFor(credentials: KubeCredentials): UndiciPool {
      const { ca, cert, key, servername, rejectUnauthorized } = credentials;
      const cacheKey = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
      if (current?.key === cacheKey) return current.pool;
      const previous = current?.pool;
      current = { key: cacheKey, pool: openPool(origin, credentials) };
      open.add(current.pool);
      if (previous !== undefined) void previous.close().finally(() => open.delete(previous));
      return current.pool;
    },
    async close(): Promise<void> {
      await Promise.all([...open].map((pool) => pool.destroy()));
    },
  };
}
