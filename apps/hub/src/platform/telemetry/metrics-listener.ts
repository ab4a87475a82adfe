/**
 * Metrics, on a listener of their own: they tell the names of agents and what the hub is busy with, ask for no password,
 * and are computed for anyone who asks. So no Ingress and no Service of users leads here.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Metrics } from './metrics.ts';

/** Some Prometheus servers ask; nobody needs more. */
const MAX_CONNECTIONS = 64;
const KEPT_MS = 500;
const PATIENCE = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 120_000 };
const HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

/** `port` 0 takes any free one. */
export async function listenForMetrics(metrics: Metrics, port: number, host: string): Promise<MetricsListener> {
  const render = renderNowAndThen(() => metrics.registry.metrics());
  const server = createServer(PATIENCE, (request, response) => void answer(request, response, render));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, done);
  });
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, close };
}

/** One answer for all who ask within half a second: whoever asks without end costs a percent of a core. */
function renderNowAndThen(render: () => Promise<string>): () => Promise<string> {
  let kept: Promise<string> | undefined;
  return () => {
    if (kept) return kept;
    setTimeout(() => (kept = undefined), KEPT_MS).unref();
    return (kept = render());
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  render: () => Promise<string>,
): Promise<void> {
  const isAsked = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
  if (!isAsked) return void response.writeHead(404, { ...HEADERS, connection: 'close' }).end();
  try {
    const text = await render();
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
  } catch {
    response.writeHead(500, HEADERS).end();
  }
}
