/**
 * Liveness, readiness and metrics for the kubelet and Prometheus, over plain HTTP on the pod's own port. Live means the
 * event loop turns; nothing outside may make it fail, or an outage of the API server would restart every agent.
 */
import { ownValue } from '#domain';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReadinessCheck {
  readonly name: string;
  /** A sentence that says why not, or undefined when ready. */
  readonly whyNot: () => string | undefined;
}

export interface HealthServer {
  readonly port: number;
  addReadinessCheck(check: ReadinessCheck): void;
  close(): Promise<void>;
}

export interface HttpReply {
  readonly code: number;
  readonly body: string;
  readonly contentType?: string;
}

/** What a route is asked; `localAddress` is this process's own `host:port` as the other side reached it. */
export interface HttpQuestion {
  readonly query: URLSearchParams;
  readonly localAddress: string;
}

type Routes = Readonly<Record<string, (question: HttpQuestion) => HttpReply | Promise<HttpReply>>>;

export interface HealthServerOptions {
  /** By path; what one throws is answered with 500. */
  readonly routes?: Routes;
  /** 0: any free port. */
  readonly port: number;
  readonly renderMetrics: () => string;
}

const PLAIN = 'text/plain; charset=utf-8';
const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8';

// An `import` of node:http evaluates all its exports, also the lazy WebSocket, which loads a second undici: 10 MB resident.
const { createServer } = process.getBuiltinModule('node:http');

/** Rejects when the port cannot be had. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const checks: ReadinessCheck[] = [];
  const routes: Routes = {
    '/livez': () => ({ code: 200, body: 'ok\n' }),
    '/readyz': () => describeReadiness(checks),
    '/metrics': () => ({ code: 200, body: options.renderMetrics(), contentType: EXPOSITION }),
    ...options.routes,
  };
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(response, { code: 405, body: 'only GET\n' });
    else void answerRoute(routes, request, response);
  });
  await listen(server, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    addReadinessCheck: (check) => checks.push(check),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** As the other side reached it: a pod's own address also behind a Service. */
function addressOf({ socket }: IncomingMessage): string {
  const host = (socket.localAddress ?? '').replace(/^::ffff:/, '');
  return `${host.includes(':') ? `[${host}]` : host}:${socket.localPort ?? 0}`;
}

async function answerRoute(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  const route = ownValue(routes, path);
  if (route === undefined) {
    answer(response, { code: 404, body: `there are ${Object.keys(routes).join(', ')}\n` });
    return;
  }
  try {
    answer(response, await route({ query: new URLSearchParams(query), localAddress: addressOf(request) }));
  } catch (error) {
    answer(response, { code: 500, body: `${error instanceof Error ? error.message : 'failed'}\n` });
  }
}

function describeReadiness(checks: readonly ReadinessCheck[]): HttpReply {
  const lines = checks.map(({ name, whyNot }) => {
    const reason = whyNot();
    return { ready: reason === undefined, text: reason === undefined ? `[+] ${name}` : `[-] ${name}: ${reason}` };
  });
  const isReady = lines.every(({ ready }) => ready);
  const text = lines.map((line) => line.text).join('\n');
  return { code: isReady ? 200 : 503, body: `${text}\n${isReady ? 'ready' : 'not ready'}\n` };
}

function answer(response: ServerResponse, { code, body, contentType = PLAIN }: HttpReply): void {
  response.writeHead(code, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
