/** The one implementation of KubeClient: verbs over one transport, each request bounded in time. */
import type { KubeClient, KubeClientOptions, RawRequest } from './kube-client.ts';
import type { KubeConnection } from './kube-connection.ts';
import { KubeError } from './kube-error.ts';
import { formatQuery } from './format-query.ts';
import { readVerbs } from './kube-read-verbs.ts';
import { createKubeTransport, type KubeTransport } from './kube-transport.ts';
import { removeVerbs, writeVerbs } from './kube-write-verbs.ts';
import { parseKubeAnswer } from './parse-kube-answer.ts';
import { watchResource } from './watch-resource.ts';

const DEFAULT_TIMEOUT_MS = 15_000;

export function createKubeClient(connection: KubeConnection, options: KubeClientOptions): KubeClient {
  const transport = createKubeTransport(connection, options.userAgent, options.onAnswer);
  const raw = (request: RawRequest) => sendRaw(transport, options.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS, request);
  const send = <T>(request: RawRequest): Promise<T> => raw(request) as Promise<T>;
  return {
    server: connection.server,
    raw,
    ...readVerbs(send),
    ...writeVerbs(send),
    ...removeVerbs(send),
    watch: (resource, watch) => watchResource(transport, resource, watch),
    close: () => Promise.resolve(transport.close()),
  };
}

async function sendRaw(transport: KubeTransport, defaultTimeoutMs: number, request: RawRequest): Promise<unknown> {
  const timeoutMs = request.timeoutMs ?? defaultTimeoutMs;
  const send = () =>
    transport.send({
      method: request.method,
      path: request.path + formatQuery(request.query ?? {}),
      timeoutMs,
      silenceMs: timeoutMs,
      ...(request.signal !== undefined && { signal: request.signal }),
      ...(request.body !== undefined && {
        body: JSON.stringify(request.body),
        headers: { 'content-type': request.contentType ?? 'application/json' },
      }),
    });
  const answer = await send().catch((error: unknown) => {
    // An idle connection that the server closed in the same instant; only a read may be repeated blindly.
    if (request.method === 'GET' && error instanceof KubeError && error.reason === 'CLOSED') return send();
    throw error;
  });
  return parseKubeAnswer(`${request.method} ${request.path}`, answer);
}
