/**
 * An API server on a loopback port for unit tests: real HTTP, objects in memory, faults on request. The contract suite
 * runs on it and on a real one, so that what it promises stays true.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { claimPort } from '../ports/claim-ports.ts';
import { FaultList, type FaultKind, type KubeFault, type SeenRequest } from './kube-faults.ts';
import { parseKubePath } from './kube-path.ts';
import { KubeStore } from './kube-store.ts';
import { KubeWatches } from './kube-watches.ts';
import { serveKubeRequest } from './serve-kube-request.ts';
import { playDefinitions } from './play-definitions.ts';
import { StatusError } from './status-error.ts';

export interface FakeKubeServerOptions {
  /** When given, requests without one of these bearer tokens get 401. The array may be changed later. */
  readonly tokens?: string[];
  /** Called for each request at the moment in which it takes effect: nothing comes in between. */
  readonly onServe?: (request: SeenRequest, store: KubeStore) => void;
  /** PEM texts; when given, it speaks TLS as a real one does. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export class FakeKubeServer {
  readonly store = new KubeStore();
  readonly watches = new KubeWatches(this.store);
  /** Every request, in order of arrival. */
  readonly requests: SeenRequest[] = [];
  /** Connections accepted so far. */
  connections = 0;
  private readonly faults = new FaultList();
  private readonly sockets = new Set<Socket>();
  private readonly options: FakeKubeServerOptions;
  private server: Server | undefined;
  private port = 0;

  private constructor(options: FakeKubeServerOptions) {
    this.options = options;
    playDefinitions(this.store);
  }

  static async start(options: FakeKubeServerOptions = {}): Promise<FakeKubeServer> {
    const fake = new FakeKubeServer(options);
    fake.port = await claimPort();
    await fake.listen();
    return fake;
  }

  get url(): string {
    return `${this.options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`;
  }

  inject(fault: KubeFault): void {
    this.faults.add(fault);
  }

  clearFaults(): void {
    this.faults.clear();
  }

  /** Refuses connections and cuts the open ones, as a killed server does. */
  async stop(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Listens again, on the same port. */
  async listen(): Promise<void> {
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    };
    const { tls } = this.options;
    const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
    server.on('connection', (socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.server = server;
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    this.requests.push(request);
    const fault = this.faults.take(request);
    if (fault?.kind === 'hold' && !(await isHeldToTheEnd(fault.until, response))) return;
    if (fault !== undefined && fault.kind !== 'hold' && fault.kind !== 'drop-after') return actFault(fault, response);
    if (!this.isAllowed(request)) return refuse(response, new StatusError(401, 'Unauthorized', 'Unauthorized'));
    if (request.isWatch) return this.watch(request, response);
    this.carryOut(request, response, fault?.kind === 'drop-after');
  }

  private carryOut(request: SeenRequest, response: ServerResponse, isAnswerLost: boolean): void {
    try {
      this.options.onServe?.(request, this.store);
      const { code, body } = serveKubeRequest(this.store, request);
      if (isAnswerLost) response.destroy();
      else answer(response, code, body);
    } catch (error) {
      if (error instanceof StatusError) refuse(response, error);
      else throw error;
    }
  }

  private isAllowed({ headers }: SeenRequest): boolean {
    const { tokens } = this.options;
    return tokens === undefined || tokens.some((token) => headers['authorization'] === `Bearer ${token}`);
  }

  private watch(request: SeenRequest, response: ServerResponse): void {
    const path = parseKubePath(request.path);
    const { query } = request;
    const seconds = query.get('timeoutSeconds');
    this.watches.start(
      {
        collection: `${path?.apiVersion}/${path?.plural}`,
        apiVersion: path?.apiVersion ?? '',
        namespace: path?.namespace,
        resourceVersion: query.get('resourceVersion') ?? undefined,
        labelSelector: query.get('labelSelector') ?? undefined,
        fieldSelector: query.get('fieldSelector') ?? undefined,
        timeoutMs: seconds === null ? undefined : Number(seconds) * 1000,
      },
      response,
    );
  }
}

/** False when its client has given up in the meantime: then nobody carries it out any more. */
async function isHeldToTheEnd(until: Promise<void>, response: ServerResponse): Promise<boolean> {
  await until;
  return !response.destroyed;
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const url = new URL(incoming.url ?? '/', 'http://fake');
  return {
    method: incoming.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    isWatch: url.searchParams.get('watch') === 'true',
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function answer(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
  const isText = typeof body === 'string';
  response.writeHead(code, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

const refuse = (response: ServerResponse, error: StatusError): void => answer(response, error.code, error.toStatus());

function actFault(fault: Exclude<FaultKind, { kind: 'hold' }>, response: ServerResponse): void {
  switch (fault.kind) {
    case 'status': {
      const { reason = 'InternalError', message = 'injected by the test' } = fault;
      const error = new StatusError(fault.code, reason, message, fault.causes);
      const headers = fault.retryAfterSeconds ? { 'retry-after': String(fault.retryAfterSeconds) } : {};
      return answer(response, fault.code, error.toStatus(), headers);
    }
    case 'text':
      return answer(response, 200, fault.text);
    case 'drop':
    case 'drop-after':
      response.destroy();
      return;
    case 'hang':
      return;
  }
}
