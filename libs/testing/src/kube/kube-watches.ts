/** The open watches of the fake API server, and what can be done to them from a test. */
import type { ServerResponse } from 'node:http';
import type { KubeStore, StoreEvent } from './kube-store.ts';
import { matchesSelectors, type Selectors } from './select-objects.ts';
import { StatusError } from './status-error.ts';

export interface WatchRequest extends Selectors {
  readonly collection: string;
  readonly apiVersion: string;
  readonly namespace: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly timeoutMs: number | undefined;
}

interface OpenWatch {
  readonly response: ServerResponse;
  readonly request: WatchRequest;
  readonly stop: () => void;
}

export class KubeWatches {
  private readonly open = new Set<OpenWatch>();
  private readonly store: KubeStore;
  private frozen = false;
  /** When set, every write goes out in pieces of this many bytes, so that lines and characters are cut. */
  pieceBytes: number | undefined;

  constructor(store: KubeStore) {
    this.store = store;
  }

  get count(): number {
    return this.open.size;
  }

  start(request: WatchRequest, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const since = Number(request.resourceVersion ?? 0);
    try {
      if (since === 0) this.sendAll(request, response);
      else for (const event of this.store.eventsSince(since)) this.send(request, response, event);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.write(response, { type: 'ERROR', object: error.toStatus() });
      response.end();
      return;
    }
    this.follow(request, response);
  }

  private follow(request: WatchRequest, response: ServerResponse): void {
    const unsubscribe = this.store.subscribe((event) => this.send(request, response, event));
    const timer = request.timeoutMs === undefined ? undefined : setTimeout(() => response.end(), request.timeoutMs);
    const watch: OpenWatch = { response, request, stop: unsubscribe };
    this.open.add(watch);
    response.on('close', () => {
      clearTimeout(timer);
      unsubscribe();
      this.open.delete(watch);
    });
  }

  private sendAll(request: WatchRequest, response: ServerResponse): void {
    for (const object of this.store.list(request.collection, request.namespace)) {
      if (matchesSelectors(object, request)) this.write(response, { type: 'ADDED', object });
    }
  }

  /** An object that leaves the selection is told as deleted, one that enters as added. */
  private send(request: WatchRequest, response: ServerResponse, event: StoreEvent): void {
    const { object, previous } = event;
    if (event.collection !== request.collection) return;
    if (request.namespace !== undefined && object.metadata.namespace !== request.namespace) return;
    const is = event.type !== 'DELETED' && matchesSelectors(object, request);
    const was = previous !== undefined && matchesSelectors(previous, request);
    if (!is && !was) return;
    this.write(response, { type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', object });
  }

  private write(response: ServerResponse, event: { readonly type: string; readonly object: unknown }): void {
    this.writeText(response, `${JSON.stringify(event)}\n`);
  }

  private writeText(response: ServerResponse, text: string): void {
    if (this.frozen || response.destroyed) return;
    const bytes = Buffer.from(text, 'utf8');
    const size = this.pieceBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
  }

  /** `version` stands in for the current one, to play a server whose storage went back. */
  sendBookmarks(version = this.store.version): void {
    for (const { request, response } of this.open) {
      const object = { apiVersion: request.apiVersion, metadata: { resourceVersion: String(version) } };
      this.write(response, { type: 'BOOKMARK', object: object });
    }
  }

  /** Any text, for instance half an event. */
  sendText(text: string): void {
    for (const { response } of this.open) this.writeText(response, text);
  }

  sendError(error: StatusError): void {
    for (const { response } of this.open) this.write(response, { type: 'ERROR', object: error.toStatus() });
  }

  /** An orderly end, as at the time-out. */
  end(): void {
    for (const { response } of [...this.open]) response.end();
  }

  /** A cut connection. */
  drop(): void {
    for (const { response } of [...this.open]) response.destroy();
  }

  /** Open watches get nothing more, and notice nothing: a half-open connection. New ones are silent as well. */
  freeze(): void {
    this.frozen = true;
  }

  thaw(): void {
    this.frozen = false;
  }
}
