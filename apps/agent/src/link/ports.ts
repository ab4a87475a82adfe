/** What the link needs from the rest of the agent; main wires it. */
import type { Clock, ObjectKey, RedisClusterObject, Scope } from '#domain';
import type { KubeClient } from '#kube';
import type { Dialect, EventItem } from '#protocol';

/** The cache of RedisClusters, status and managed fields included. */
export interface RedisClusterStore {
  list(): readonly RedisClusterObject[];
  get(key: ObjectKey): RedisClusterObject | undefined;
  /** Each change of an object, its status too, and its disappearance. Returns the end of the subscription. */
  onChange(listener: (key: ObjectKey) => void): () => void;
  /** False before the first complete list and while the member's API server cannot be heard: then nobody may count. */
  isSynced(): boolean;
}

/** An event as it travels, with its object as the agent knows it. */
export interface LinkEvent extends Omit<EventItem, keyof ObjectKey> {
  readonly key: ObjectKey;
}

export interface EventFeed {
  onEvent(listener: (event: LinkEvent) => void): () => void;
}

/** What this agent allows the hub to do here, from its own values (03, Identity and trust). */
export interface AgentLimits {
  /** Empty: every namespace of the scope. */
  readonly namespaces: readonly string[];
  /** Namespaces that it may never write to, besides kube-* and the agent's own; `name*` means every name that begins so. */
  readonly protectedNamespaces: readonly string[];
  /** Registries or repositories that an explicit engine image may come from; `*`: any. */
  readonly imageRegistries: readonly string[];
  /** PriorityClasses that a spec may name; never one called system-…. */
  readonly priorityClasses: readonly string[];
  /** RedisClusters of the hub here; more of them are not created. */
  readonly maxRedisClusters: number;
  readonly acceptDeletes: boolean;
  /** Deletes within 5 minutes that need no approval. */
  readonly maxDeletes: number;
  /** RedisClusters within 5 minutes whose spec may change in a way that can lose data or stop Redis. */
  readonly maxDestructiveChanges: number;
}

export interface LinkSettings {
  /** host:port of the hub's agent listener. */
  readonly hubAddress: string;
  /** PEM of the hub's CA; absent when the identity Secret already holds it. */
  readonly hubCa?: string;
  readonly enrolmentToken?: string;
  readonly agentVersion: string;
  /** Random per process. */
  readonly instanceId: string;
  readonly scope: Scope;
  /** Namespace the agent itself runs in: its Secret and its state are there. */
  readonly namespace: string;
  readonly limits: AgentLimits;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface LinkParts {
  readonly client: KubeClient;
  readonly store: RedisClusterStore;
  readonly events: EventFeed;
  /** Moving numbers of an object, for instance `keys`; undefined when none are known. */
  readonly numbersOf: (key: ObjectKey) => Readonly<Record<string, number>> | undefined;
  /** RedisClusters that another agent of this member cluster pushed: their numbers are told, should this one operate them. */
  readonly guests?: Pick<RedisClusterStore, 'list' | 'get'>;
  /** Hash of the RedisCluster schema in this member cluster; empty when it is not known. */
  readonly crdSchemaHash: () => string;
  readonly clock: Clock;
  /** True when this process may write now: its lease is younger than two thirds of its duration (03 rule 15). */
  /** Tells people of an object: a Kubernetes Event, which also goes to the hub. */
  readonly warn?: (key: ObjectKey, reason: string, message: string) => void;
  readonly fence: () => boolean;
  readonly log: Log;
  /** Protocols that the hub may choose from, newest first. Default: those of this release. */
  readonly dialects?: readonly Dialect[];
  /** Default Math.random. */
  readonly random?: () => number;
  /** Silence of the hub after which it is asked, and after which the connection is given up. Default 10 and 20 s. */
  readonly silence?: { readonly pingAfterMs: number; readonly goneAfterMs: number };
  /** How often it is asked whether the key is due for a new one. Default ten minutes. */
  readonly lookAtIdentityEveryMs?: number;
}

/** For /readyz and metrics. */
export interface LinkState {
  readonly running: boolean;
  readonly enrolled: boolean;
  readonly connected: boolean;
  readonly sessionNo?: number;
  /** Wall time of the last Welcome, ms since 1970. */
  readonly lastWelcomeAtMs?: number;
  readonly hubEpoch?: string;
  readonly appliedRevision: number;
  readonly waitingObjects: number;
  /** Objects here that carry a hub's annotations and that the hub does not know. */
  readonly unclaimedObjects: number;
  /** Deletes of the hub that were refused as a mass, since this process began. */
  readonly refusedDeletes: number;
  /** Changes of specs that the hub wants and that wait for a person here. */
  readonly heldChanges: number;
  readonly outbox: { readonly status: number; readonly events: number };
  /** Why the last session ended or could not begin; for people. */
  readonly lastFailure?: string;
}
