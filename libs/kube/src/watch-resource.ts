/**
 * One watch request: bytes to lines to events, in order. Every way in which it can go wrong is an error of the promise,
 * so that the caller never takes a broken stream for a quiet one.
 */
import type { KubeObject } from '#domain';
import type { WatchEvent, WatchOptions } from './kube-client.ts';
import { KubeError, type KubeStatus } from './kube-error.ts';
import { collectionPath, type KubeResource } from './kube-resource.ts';
import type { KubeTransport } from './kube-transport.ts';
import { errorOfStatus, parseJson, parseKubeAnswer } from './parse-kube-answer.ts';
import { createLineSplitter } from './split-lines.ts';
import { formatQuery } from './format-query.ts';

const DEFAULT_TIMEOUT_SECONDS = 300;
/** Longer than the API server's bookmark interval of a minute plus a quarter of jitter. */
const DEFAULT_INACTIVITY_MS = 90_000;

export async function watchResource(
  transport: KubeTransport,
  resource: KubeResource,
  options: WatchOptions,
): Promise<void> {
  const what = `watch ${resource.plural}`;
  const path = collectionPath(resource, options.namespace);
  const lines = createLineSplitter();
  const answer = await transport.send({
    method: 'GET',
    path: path + formatQuery(watchQuery(options)),
    signal: options.signal,
    silenceMs: options.inactivityTimeoutMs ?? DEFAULT_INACTIVITY_MS,
    ...(options.onOpen !== undefined && { onOpen: options.onOpen }),
    onChunk(chunk) {
      for (const line of lines.push(chunk)) options.onEvent(parseWatchLine(what, line));
    },
  });
  parseKubeAnswer(what, answer);
  if (lines.pendingBytes > 0) {
    throw new KubeError({ reason: 'CLOSED', message: `${what}: the stream ended inside an event` });
  }
}

function watchQuery(options: WatchOptions) {
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS),
    resourceVersion: options.resourceVersion,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
  };
}

/** Exported for its tests. Throws a KubeError for ERROR events and for text that is no event. */
export function parseWatchLine(what: string, line: string): WatchEvent {
  const event = parseJson(line) as { type?: unknown; object?: unknown } | undefined;
  switch (event?.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return { type: event.type, object: event.object as KubeObject };
    case 'ERROR': {
      const status = event.object as KubeStatus | undefined;
      throw errorOfStatus(what, status?.code ?? 500, status);
    }
    default:
      throw new KubeError({ reason: 'MALFORMED', message: `${what}: not an event: ${line.slice(0, 100)}` });
  }
}
