/** The face of the Kubernetes API that the rest of Atoll sees: plain objects in, plain objects or a KubeError out. */
import type { KubeObject } from '#domain';
import type { KubeResource, ResourceName } from './kube-resource.ts';
import type { OnAnswer } from './kube-transport.ts';

export interface RequestOptions {
  /** Ends the request early; it then rejects with a KubeError of reason ABORTED. */
  readonly signal?: AbortSignal;
  /** Overrides the client's time-out, in ms. */
  readonly timeoutMs?: number;
}

export interface Selection {
  /** Without it: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends Selection, RequestOptions {
  readonly limit?: number;
  readonly continue?: string;
  /** `0` allows an answer from the server's cache; without it the answer is the newest. */
  readonly resourceVersion?: string;
}

export interface KubeList<T extends KubeObject = KubeObject> {
  /** apiVersion and kind are filled in on each item (lists leave them out). */
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
}

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string;
  /** The server validates and admits but stores nothing. */
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take contested fields. Default false: then a contest is a conflict with `fieldConflicts`. */
  readonly force?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  /** Preconditions: a 409 when the live object is another one. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: 'status' | 'scale';
}

/** RFC 6902; `test` makes a precondition. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  /** Only metadata.resourceVersion means something. */
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject };

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string;
  readonly signal: AbortSignal;
  /** Called in order; a throw ends the watch with that error. */
  readonly onEvent: (event: WatchEvent) => void;
  /** Called once the server has accepted the watch. */
  readonly onOpen?: () => void;
  /** The server ends the watch after this long. Default 300. */
  readonly timeoutSeconds?: number;
  /** Silence longer than this is a dead connection. Default 90,000; must exceed the server's bookmark interval (60-75 s). */
  readonly inactivityTimeoutMs?: number;
}

export interface RawRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Starts with a slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Default application/json. */
  readonly contentType?: string;
}

/** Every method rejects with a KubeError, and only with that. */
export interface KubeClient {
  /** URL of the API server, for messages. */
  readonly server: string;
  get<T extends KubeObject = KubeObject>(
    resource: KubeResource,
    at: ResourceName,
    options?: RequestOptions,
  ): Promise<T>;
  /** As get, but undefined when there is none. */
  find<T extends KubeObject = KubeObject>(
    resource: KubeResource,
    at: ResourceName,
    options?: RequestOptions,
  ): Promise<T | undefined>;
  /** One page. */
  list<T extends KubeObject = KubeObject>(resource: KubeResource, options?: ListOptions): Promise<KubeList<T>>;
  /** All pages; `limit` is the page size (default 500). */
  listAll<T extends KubeObject = KubeObject>(
    resource: KubeResource,
    options?: Omit<ListOptions, 'continue'>,
  ): Promise<KubeList<T>>;
  create<T extends KubeObject = KubeObject>(object: KubeObject, options?: WriteOptions): Promise<T>;
  /** PUT; metadata.resourceVersion in the object is the precondition. */
  replace<T extends KubeObject = KubeObject>(object: KubeObject, options?: WriteOptions): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject = KubeObject>(object: KubeObject, options: ApplyOptions): Promise<T>;
  /** Server-side apply to the status subresource; the object carries apiVersion, kind, metadata, status. */
  applyStatus<T extends KubeObject = KubeObject>(object: KubeObject, options: ApplyOptions): Promise<T>;
  patchMerge<T extends KubeObject = KubeObject>(
    resource: KubeResource,
    at: ResourceName,
    patch: Readonly<Record<string, unknown>>,
    options?: PatchOptions,
  ): Promise<T>;
  patchJson<T extends KubeObject = KubeObject>(
    resource: KubeResource,
    at: ResourceName,
    operations: readonly JsonPatchOperation[],
    options?: PatchOptions,
  ): Promise<T>;
  /** Resolves when the server has accepted the deletion; the object may stay until its finalizers are gone. */
  delete(resource: KubeResource, at: ResourceName, options?: DeleteOptions): Promise<void>;
  /** Eviction API (policy/v1). A budget that forbids it now is isTooManyRequests(). */
  evict(pod: Required<ResourceName>, options?: Omit<DeleteOptions, 'propagationPolicy'>): Promise<void>;
  /** One watch request. Resolves when the server ends it; rejects on error, 410 included (isGone()). */
  watch(resource: KubeResource, options: WatchOptions): Promise<void>;
  /** Any request; resolves with the parsed JSON, or the text when it is none. */
  raw(request: RawRequest): Promise<unknown>;
  /** Closes idle connections and ends open ones. */
  close(): Promise<void>;
}

export interface KubeClientOptions {
  /** After each answer of the server, for counting. A watch is answered when it ends. */
  readonly onAnswer?: OnAnswer;
  readonly userAgent: string;
  /** Per request, connection included. Default 15,000. */
  readonly requestTimeoutMs?: number;
}
