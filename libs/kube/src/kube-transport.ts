/**
 * Requests to one API server over one cached set of connections. It is keyed by the bytes of CA and client certificate,
 * so that a rotation takes effect with the next request, while running watches end in their own time. What breaks
 * without the cache: a TLS handshake and a socket for every request.
 *
 * Node's own client, not undici: measured with eight watches over TLS, 65 MB resident against 80 MB (undici compiles a
 * parser to WebAssembly, 8 MB, and takes 1.5 MB a connection against 0.15 MB).
 */
import type { Agent } from 'node:http';
import { createSecureContext } from 'node:tls';
import { describeRequest, type DescribedRequest } from './describe-request.ts';
import { exchangeHttp, type HttpAnswer, type HttpRequest } from './exchange-http.ts';
import type { KubeConnection, KubeCredentials } from './kube-connection.ts';
import { KubeError } from './kube-error.ts';

export type TransportRequest = Omit<HttpRequest, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

export interface KubeTransport {
  send(request: TransportRequest): Promise<HttpAnswer>;
  /** Ends all requests and connections. */
  close(): void;
}

/** The kernel probes idle connections after this long, so that a peer that vanished is noticed in half a minute. */
const KEEP_ALIVE_PROBE_MS = 15_000;
/** Below the API server's 90 s, so that we never write into a connection it is just closing. */
const IDLE_CONNECTION_MS = 20_000;
const IDLE_CONNECTIONS = 4;

// An `import` evaluates all exports, also the lazy WebSocket, which loads a second HTTP client: 10 MB resident.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

function openAgent(origin: URL, credentials: KubeCredentials): Agent {
  const { ca, cert, key, servername, rejectUnauthorized } = credentials;
  const options = {
    keepAlive: true,
    keepAliveMsecs: KEEP_ALIVE_PROBE_MS,
    timeout: IDLE_CONNECTION_MS,
    maxFreeSockets: IDLE_CONNECTIONS,
    scheduling: 'lifo' as const,
  };
  if (origin.protocol !== 'https:') return new http.Agent(options);
  // One context for all connections: given the texts, Node would parse them and keep a context for each of a dozen watches.
  const secureContext = createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  });
  return new https.Agent({
    ...options,
    rejectUnauthorized,
    secureContext,
    ...(servername !== undefined && { servername }),
  });
}

/** After each answer, good or bad; not for requests without one. */
export type OnAnswer = (answer: DescribedRequest & { readonly status: number }) => void;

export function createKubeTransport(
  connection: KubeConnection,
  userAgent: string,
  onAnswer: OnAnswer = () => undefined,
): KubeTransport {
  const server = new URL(connection.server);
  const prefix = server.pathname.replace(/\/$/, '');
  const origin = new URL(server.origin);
  const agents = createAgentCache(origin);
  const attempt = async (request: TransportRequest): Promise<HttpAnswer> => {
    const credentials = await readCredentials(connection);
    const target = { origin, agent: usable(connection, () => agents.agentFor(credentials)) };
    const answer = await exchangeHttp(target, {
      ...request,
      path: `${prefix}${request.path}`,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(credentials.authorization !== undefined && { authorization: credentials.authorization }),
        ...request.headers,
      },
    });
    onAnswer({ ...describeRequest(request.method, request.path), status: answer.status });
    return answer;
  };
  return {
    async send(request) {
      const answer = await attempt(request);
      if (answer.status !== 401) return answer;
      connection.invalidate();
      return attempt(request);
    },
    close: () => agents.close(),
  };
}

async function readCredentials(connection: KubeConnection): Promise<KubeCredentials> {
  try {
    return await connection.credentials();
  } catch (cause) {
    throw unusable(connection, cause);
  }
}

/** A text that is no certificate or no key, as a file may be for a moment while it is replaced. */
function usable<T>(connection: KubeConnection, open: () => T): T {
  try {
    return open();
  } catch (cause) {
    throw unusable(connection, cause);
  }
}

function unusable({ source }: KubeConnection, cause: unknown): KubeError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new KubeError({ reason: 'CREDENTIALS', message: `credentials of ${source}: ${text}`, cause });
}

function createAgentCache(origin: URL) {
  let current: { readonly key: string; readonly agent: Agent } | undefined;
  let retired: Agent[] = [];
  return {
    agentFor(credentials: KubeCredentials): Agent {
      const { ca, cert, key, servername, rejectUnauthorized } = credentials;
      const cacheKey = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
      if (current?.key === cacheKey) return current.agent;
      if (current !== undefined) retired.push(retire(current.agent));
      retired = retired.filter((agent) => Object.keys(agent.sockets).length > 0);
      current = { key: cacheKey, agent: openAgent(origin, credentials) };
      return current.agent;
    },
    close(): void {
      for (const agent of [...retired, current?.agent]) agent?.destroy();
    },
  };
}

/** Idle connections end now, busy ones when their request does. */
function retire(agent: Agent): Agent {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  return agent;
}
