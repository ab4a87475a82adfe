/**
 * The messages of the link (protocol 1, subprotocol `atoll.v1`): one JSON text frame each, `{type, nonce, payload}`.
 * Challenge, Hello, Welcome, Heartbeat and UpgradeRequired are frozen for ever, so that an agent that was away for a year
 * can still be told what to do. All others may gain optional fields; receivers ignore what they do not know.
 */
import type {
  Condition,
  DeliveryState,
  PodStatus,
  RedisClusterSpec,
  RedisClusterStatus,
  Scope,
  TombstoneKind,
} from '#domain';

export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = 'atoll.v1';
/** The hub closes a session with it when another process of the same agent has one now. */
export const TAKEN_OVER_CLOSE_CODE = 4001;
export const AGENT_PATH = '/agent/v1';

/** Identity of one pushed object's version. `hash` is specHash: SHA-256 hex of the RFC 8785 JSON as sent. */
export interface ObjectVersion {
  readonly hubUid: string;
  readonly hubGeneration: number;
  readonly specHash: string;
}

export interface Challenge {
  /** 32 random bytes, base64url; used once. */
  readonly challenge: string;
  readonly protocolVersions: readonly number[];
  /**
   * The hub's configured public address (host:port), which the signature covers. A hub with several takes the one that
   * the request's Host header names; an agent signs for no other address than the one it dials.
   */
  readonly audience: string;
}

export interface Hello {
  readonly protocolVersions: readonly number[];
  readonly agentId: string;
  readonly agentVersion: string;
  /** Random per process, to tell a restart from a clone. */
  readonly instanceId: string;
  readonly scope: Scope;
  readonly fingerprint: string;
  readonly hubEpoch?: string;
  readonly appliedRevision: number;
  readonly specDigest: string;
  readonly crdSchemaHash: string;
  readonly capabilities: readonly string[];
  readonly inventory: 'SYNCED' | 'UNKNOWN';
  /** Ed25519 over `helloSigningInput`, base64url. */
  readonly signature: string;
}

export interface Welcome {
  readonly protocolVersion: number;
  readonly sessionNo: number;
  readonly hubEpoch: string;
  /** RFC 3339; for display only, liveness is judged on the hub's clock alone. */
  readonly hubTime: string;
  readonly mode: 'DELTA' | 'SNAPSHOT' | 'INVENTORY';
  readonly limits: {
    readonly statusWindow: number;
    readonly heartbeatIntervalMs: number;
    readonly maxFrameBytes: number;
  };
  /** A next CA, announced before it is used; PEM. */
  readonly nextCa?: string;
}

export interface UpgradeRequired {
  readonly supportedProtocolVersions: readonly number[];
  readonly message: string;
}

export interface Heartbeat {
  readonly inventory: 'SYNCED' | 'UNKNOWN';
}

/** One object as the hub wants it. `spec` is the text that specHash was taken of. */
export interface Upsert extends ObjectVersion {
  readonly namespace: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** RFC 8785 JSON text of the custom resource's spec. */
  readonly spec: string;
  /** Only until the first APPLIED and after Recreate; without it the agent never creates. */
  readonly create: boolean;
  readonly adopt: boolean;
  readonly driftPolicy: 'Report' | 'Revert';
  /** Fields (JSON paths) that a person asked to have back: these alone are applied with force. */
  readonly revertFields?: readonly string[];
  /** Set when the data set's id is not the hubUid (adoption). */
  readonly dataSetId?: string;
}

export interface Tombstone {
  readonly hubUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly operation: TombstoneKind;
  /** Approval that lifts the delete breaker for the listed objects. */
  readonly approval?: { readonly id: string; readonly hubUids: readonly string[]; readonly expiresAt: string };
  /**
   * Only of a DELETE: every Kubernetes uid by which the hub knew the object when its delete was asked for, or approved. An object of
   * another uid was put back since, and is not meant. Absent: the hub did not know any (also from a hub that does not know the field).
   */
  readonly uids?: readonly string[];
}

export interface Delta {
  /** The revision reached when all of this has been processed. */
  readonly revision: number;
  readonly upserts: readonly Upsert[];
  readonly tombstones: readonly Tombstone[];
}

export interface SnapshotBegin {
  readonly revision: number;
  readonly objectCount: number;
}
export interface SnapshotChunk {
  readonly upserts: readonly Upsert[];
}
export interface SnapshotEnd {
  readonly revision: number;
  /** Spec digest over all objects of the snapshot. */
  readonly digest: string;
  /** Every tombstone not yet acked that may be carried out now. */
  readonly tombstones: readonly Tombstone[];
  /**
   * hubUids whose delete the hub's breaker holds back: known to the hub, so not UNCLAIMED, and not to be deleted yet.
   * Apart from the tombstones, so that an agent that does not know the field deletes nothing.
   */
  readonly held?: readonly string[];
}

export interface ObjectOutcome {
  readonly hubUid: string;
  readonly hubGeneration: number;
  readonly state: Exclude<DeliveryState, 'PENDING'> | 'DELETED' | 'ORPHANED';
  readonly specHash?: string;
  /** Kubernetes uid of the object that it is about: of what was written, or of what was not deleted. */
  readonly uid?: string;
  readonly code?: string;
  readonly message?: string;
  readonly retryable?: boolean;
  /** CONFLICT: the fields that were left to their other owners. */
  readonly contested?: readonly ForeignField[];
}

export interface DesiredAck {
  readonly revision: number;
  readonly outcomes: readonly ObjectOutcome[];
  /** Spec digest after this was processed. */
  readonly digest: string;
}

/** A spec field that another field manager owns. */
export interface ForeignField {
  /** `spec.size`, `spec.config.maxmemory-policy` … */
  readonly path: string;
  readonly manager: string;
  /** JSON text of the live value; absent when the field was removed. */
  readonly liveValue?: string;
}

export type StatusDetails = Pick<
  RedisClusterStatus,
  'primaryEngine' | 'primaryVersion' | 'rollout' | 'config' | 'credentials' | 'setAside' | 'capabilities'
>;

export interface StatusItem {
  /** Absent for an object that no hub pushed (hand-made, UNCLAIMED without our annotations). */
  readonly hubUid?: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly kind: string;
  readonly observedHubGeneration?: number;
  readonly observedGeneration?: number;
  readonly phase?: string;
  readonly conditions: readonly Condition[];
  readonly dataSetId?: string;
  readonly mode?: string;
  readonly engineVersion?: string;
  readonly size?: number;
  readonly readyPods?: number;
  readonly currentPrimary?: string;
  readonly primaryTerm?: number;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly pods: readonly PodStatus[];
  readonly foreignFields: readonly ForeignField[];
  /** Live spec, for hand-made objects and for the display of drift. */
  readonly liveSpec?: RedisClusterSpec;
  /** The object is no longer there (only sent when inventory is SYNCED). */
  readonly gone?: boolean;
  /** The object is terminating. */
  readonly terminating?: boolean;
  /** It carries a hubUid that a verified snapshot of this hub lacks, or that was deleted before (03 rule 1 and 3). */
  readonly unclaimed?: boolean;
  /**
   * States that are shown and never decided from, as in the custom resource's status. Not part of the status digest: a hub
   * that is older ignores them and must still compare equal.
   */
  readonly details?: StatusDetails;
  /** Moving numbers: memory, offsets, keys; not part of the status digest. */
  readonly numbers?: Readonly<Record<string, number>>;
  /**
   * 32 hex digits, opaque to the hub, which stores them with the item: they differ whenever anything told of the object
   * differs, `numbers` excepted. What `StatusBatch.statusDigest` sums up.
   */
  readonly hash?: string;
}

/** Numbers of an object that another agent of this member cluster pushed, told by the agent that operates it. */
export interface GuestItem {
  readonly hubUid: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty: this agent operates it no more, or nothing answers it. */
  readonly numbers: Readonly<Record<string, number>>;
}

export interface StatusBatch {
  /** From 0 in each session; order of status is (sessionNo, counter). */
  readonly counter: number;
  readonly items: readonly StatusItem[];
  /** True on the batch that ends the full resend after Welcome or StatusResync. */
  readonly complete?: boolean;
  /** UNKNOWN: the member's API server is away, the items are the last known. Default SYNCED. */
  readonly inventory?: 'SYNCED' | 'UNKNOWN';
  /**
   * Only in the first batch of a session, which then has no items: the sum (see digest.ts) over all that the agent would
   * tell. A hub that has stored just that says so, and a herd of agents after its restart sends nothing again.
   */
  readonly statusDigest?: string;
  /** Beside `items`; in no digest, as numbers never are. */
  readonly guests?: readonly GuestItem[];
}

export interface StatusAck {
  readonly counter: number;
  /** Answers `statusDigest`: true, nothing need be sent again. Absent (also from a hub that does not know it): send all. */
  readonly inSync?: boolean;
}

export interface InventoryChunk {
  readonly objects: readonly (ObjectVersion & {
    readonly namespace: string;
    readonly name: string;
    readonly unclaimed: boolean;
  })[];
  readonly last: boolean;
}

export interface EventItem {
  readonly hubUid?: string;
  readonly namespace: string;
  readonly name: string;
  readonly severity: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly first: string;
  readonly last: string;
  readonly count: number;
}
export interface EventBatch {
  readonly counter: number;
  readonly items: readonly EventItem[];
}
export type EventAck = Pick<EventBatch, 'counter'>;

export interface Refused {
  readonly code: string;
  readonly message: string;
  /** True: no retry before a person acted; the agent slows down to one try a minute. */
  readonly terminal: boolean;
}
export interface Slow {
  readonly pauseMs: number;
}
export interface Reconnect {
  readonly afterMs: number;
}
export type Empty = Readonly<Record<string, never>>;
