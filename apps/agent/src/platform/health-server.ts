/**
 * Liveness, readiness and metrics for the kubelet and Prometheus, over plain HTTP on the pod's own port. Live means the
 * event loop turns; nothing outside may make it fail, or an outage of the API server would restart every agent.
 */
import type { Server, ServerResponse } from 'node:http';
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

export interface HealthServerOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly renderMetrics: () => string;
}

// An `import` of node:http evaluates all its exports, also the lazy WebSocket, which loads a second undici: 10 MB resident.
const { createServer } = process.getBuiltinModule('node:http');

/** Rejects when the port cannot be had. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const checks: ReadinessCheck[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(response, 405, 'only GET\n');
    else if (path === '/livez') answer(response, 200, 'ok\n');
    else if (path === '/readyz') answerReadiness(response, checks);
    else if (path === '/metrics')
      answer(response, 200, options.renderMetrics(), 'text/plain; version=0.0.4; charset=utf-8');
    else answer(response, 404, 'there are /livez, /readyz and /metrics\n');
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

function answerReadiness(response: ServerResponse, checks: readonly ReadinessCheck[]): void {
  const lines = checks.map(({ name, whyNot }) => {
    const reason = whyNot();
    return { ready: reason === undefined, text: reason === undefined ? `[+] ${name}` : `[-] ${name}: ${reason}` };
  });
  const isReady = lines.every(({ ready }) => ready);
  answer(
    response,
    isReady ? 200 : 503,
    `${lines.map(({ text }) => text).join('\n')}\n${isReady ? 'ready' : 'not ready'}\n`,
  );
}

function answer(response: ServerResponse, code: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
