/**
 * What `observe` gathers once per pass, as dated plain data. The planner decides from this and nothing else, so every
 * field says when or how it was seen, and "not reachable" is a value of its own, never a missing one.
 */
import type { EngineType } from './redis-cluster-spec.ts';
import type { KubeObject, RedisClusterObject } from './redis-cluster.ts';
import type { RedisOperationObject } from './redis-operation.ts';

export interface PodSnapshot {
  readonly name: string;
  readonly ordinal: number;
  readonly component: 'redis' | 'sentinel';
  readonly uid: string;
  readonly ip?: string;
  readonly node?: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly restarts: number;
  /** Why a container does not run, for instance `ErrImagePull: …`; for status. */
  readonly waitingReason?: string;
  /** What the entrypoint said at its last end (volume-notes.ts), while the pod is not ready. */
  readonly lastWords?: string;
  readonly image?: string;
  /** False when the pod's Node object is NotReady or gone. */
  readonly nodeReady: boolean;
  readonly controllerRevision?: string;
  readonly createdAtMs?: number;
  /** True once every container runs, also when none is ready yet. */
  readonly running?: boolean;
  /** Limit of the first container, in bytes: a running pod keeps the one it was started with. */
  readonly memoryLimitBytes?: number;
}

/** One replica as its primary sees it (INFO's slaveN). */
export interface ReplicaSeen {
  readonly host: string;
  readonly port: number;
  readonly state: string;
  readonly offsetBytes: number;
  readonly lagSeconds: number;
}

/** How a process's end was seen by our own connections (04, proof a). Only where no mesh stands between. */
export interface SeenExit {
  /** Our standing connection was closed from its side (FIN or RST) at this time, on the clock of observedAtMs. */
  readonly closedAtMs: number;
  /** Two connections to its current address, 100 ms apart, were refused after that. */
  readonly refusedTwice: boolean;
}

export type RedisNodeFacts =
  | {
      readonly reachable: true;
      readonly role: 'master' | 'slave';
      readonly runId: string;
      readonly version: string;
      readonly engine: 'Redis' | 'Valkey';
      readonly replicationId: string;
      readonly secondReplicationId: string;
      readonly offsetBytes: number;
      /** Offset up to which the second history is shared; absent where there is no second one. */
      readonly secondOffsetBytes?: number;
      readonly masterHost?: string;
      readonly masterPort?: number;
      readonly linkUp?: boolean;
      /** How long the link to the primary has been down, in ms; absent when it is up or never was. */
      readonly linkDownSinceMs?: number;
      readonly syncInProgress: boolean;
      /**
       * On a replica whose link is up: for how long, in ms, it has applied nothing although it has read more of its
       * primary's stream; 0 at the first such look. Absent while it goes on.
       */
      readonly unappliedForMs?: number;
      readonly connectedReplicas: number;
      readonly loading: boolean;
      readonly keys: number;
      /** Live value per directive of the spec's config, for drift and for ConfigApplied. */
      readonly config: Readonly<Record<string, string>>;
      /** As a primary sees its replicas; empty on a replica. */
      readonly replicas?: readonly ReplicaSeen[];
      /** Present while the server hands itself over by FAILOVER TO: waiting-for-sync, failover-in-progress. */
      readonly failoverState?: string;
      /** Age of the last word from the primary, on a replica. */
      readonly lastIoSeconds?: number;
      readonly usedMemoryBytes?: number;
      readonly maxmemoryBytes?: number;
      readonly save?: {
        readonly inProgress: boolean;
        readonly lastOk: boolean;
        /** Unix seconds of the last good RDB. */
        readonly lastAtSeconds: number;
        readonly changesSince: number;
      };
      readonly aof?: {
        readonly enabled: boolean;
        readonly rewriting: boolean;
        /** Also of the last rewrite. */
        readonly lastWriteOk: boolean;
        /** Commands cannot be written to the file: a primary takes no writes (MISCONF). */
        readonly writesFail?: true;
      };
      /** ACL users with digests instead of rules and passwords: which passwords are valid, and whether the rules are ours. */
      readonly users?: Readonly<Record<string, AclUserSeen>>;
      /** Logs in at its primary with the current password of the credentials Secret. */
      readonly peerLoginCurrent?: boolean;
    }
  | {
      readonly reachable: false;
      readonly exit?: SeenExit;
      readonly reason: 'REFUSED' | 'TIMEOUT' | 'CLOSED' | 'AUTH' | 'NO_ADDRESS' | 'TOO_LARGE' | 'OTHER';
      readonly message: string;
    };

/** Versions are those of the credentials Secret; nothing here can be turned into a password. */
export interface AclUserSeen {
  readonly acceptsCurrent: boolean;
  readonly acceptsPrevious: boolean;
  /** The one that is to become current. */
  readonly acceptsNext?: boolean;
  /** Accepts passwords that the Secret does not hold. */
  readonly acceptsOthers: boolean;
  /** Rules as the agent wants them, or as near as the server took them. */
  readonly rulesAsWanted: boolean;
  /** The server does not take the wanted rules; it goes on with those of before, if there were any. */
  readonly refused?: boolean;
  /** Clients connected as this user. */
  readonly connections?: number;
  /** Age of its oldest connection: one older than the last publication may still know only the old password. */
  readonly oldestConnectionSeconds?: number;
  /** Its oldest connections, at most five: from where, without the port, and their age. */
  readonly oldest?: readonly { readonly address: string; readonly ageSeconds: number }[];
}

export type SentinelFacts =
  | {
      readonly reachable: true;
      readonly myId: string;
      readonly monitors: boolean;
      readonly primaryHost?: string;
      readonly primaryPort?: number;
      readonly flags?: string;
      readonly knownReplicas: number;
      /** Addresses of the replicas it knows, stale ones too: those it could promote by itself. */
      readonly replicaHosts?: readonly string[];
      /**
       * During a failover that this Sentinel leads: the replica it chose, once that one says it is a master. Until every
       * replica is moved it goes on naming the old address as primaryHost.
       */
      readonly promotedHost?: string;
      readonly otherSentinels: number;
      readonly configEpoch: number;
      readonly failoverInProgress: boolean;
      readonly quorumOk: boolean;
      readonly settings: Readonly<Record<string, string>>;
      /** As of a data pod. */
      readonly users?: Readonly<Record<string, AclUserSeen>>;
      /** Logs in at data pods and at its peers with the current password of the credentials Secret. */
      readonly peerLoginCurrent?: boolean;
    }
  | { readonly reachable: false; readonly reason: string; readonly message: string };

/** What survives the RedisCluster object: kept in a ConfigMap of the data set, see `record` in libs/manifests. */
export interface DataSetRecord {
  readonly dataSetId: string;
  readonly primaryTerm: number;
  readonly primaryPod?: string;
  readonly primaryVersion?: string;
  /** Engine of primaryVersion; missing in records of an agent before 0.2.0. */
  readonly primaryEngine?: EngineType;
  /** Where the primary ran when it was last confirmed: a pod that is gone cannot be asked any more. */
  readonly primaryNode?: string;
  readonly primaryHost?: string;
  /** Replication ids of the confirmed primaries, oldest first, the newest few: who still writes under an older one was deposed. */
  readonly histories?: readonly string[];
  readonly renderVersion: number;
  /** A data set of one has a second pod for as long as a rollout needs it (planner/rollout/surge.ts). */
  readonly surge?: 'Adding' | 'Removing';
  /** Its volume was not there before, so it goes with the pod; absent: kept. */
  readonly surgeVolume?: 'Made';
  /**
   * Pods that come back to a volume of an earlier membership, by ordinal, with the second in which that was noted: what
   * lies there is no copy of the data set (planner/find-returning.ts). Until the pod was seen linked.
   */
  readonly returning?: Readonly<Record<string, number>>;
  /**
   * A hand-over without Sentinel has begun: this pod takes over, out of this replication id. Until the primary after it is
   * recorded. By it a new primary is known whose old one has ended before anybody saw the two together.
   */
  readonly handover?: RecordedHandover | undefined;
  /**
   * How many data pods it had when its object was deleted and the volumes were kept. Until it runs again nothing else tells
   * (planner/rules/forget-members.ts).
   */
  readonly members?: number;
}

export interface RecordedHandover {
  readonly to: string;
  readonly history: string;
}

export interface NodeSnapshot {
  readonly name: string;
  readonly ready: boolean;
  /** Tainted node.kubernetes.io/out-of-service: a person says that nothing runs there. */
  readonly outOfService?: boolean;
  /** No new pod is put there: it is being drained, or will be. */
  readonly cordoned?: boolean;
  /** When its kubelet last renewed its Lease, on the clock of observedAtMs; absent where it was not asked. */
  readonly heardAtMs?: number;
  readonly zone?: string;
}

export interface RedisClusterSnapshot {
  readonly observedAtMs: number;
  readonly resource: RedisClusterObject;
  /** The CRD itself has a deletionTimestamp: let go, keep every child. */
  readonly crdTerminating: boolean;
  /** This agent is owner of the namespace by ConfigMap atoll-scope. */
  readonly ownsNamespace: boolean;
  /** It is being deleted and nobody owns it any more: whoever sees an object that is being deleted may let it go. */
  readonly namespaceTerminating?: boolean;
  readonly scopeOwner?: string;
  /**
   * Children found by the data set label, by kind, and claims that a data pod would mount although they lack it. Secrets
   * carry a digest in place of their data.
   */
  readonly children: readonly KubeObject[];
  readonly record?: DataSetRecord;
  readonly pods: readonly PodSnapshot[];
  readonly redis: Readonly<Record<string, RedisNodeFacts>>;
  readonly sentinels: Readonly<Record<string, SentinelFacts>>;
  readonly nodes: readonly NodeSnapshot[];
  /** RedisOperations of this RedisCluster that are not over, oldest first; and those that ended, for the history limit. */
  readonly operations?: readonly RedisOperationObject[];
  /** RedisClusters of this agent that are in disruption now, this one left out: at most two at once (04). */
  readonly disruptionsElsewhere?: number;
  /** True when Secret <name>-<hash>-credentials exists with all the keys that the render version needs. */
  readonly credentialsPresent: boolean;
  /** Secret <name>-connection tells clients another password than the credentials hold. */
  readonly connectionOutdated?: boolean;
  /** Of the Secrets that clients are to read, those that somebody else made under that name: not children, never written. */
  readonly foreignSecrets?: readonly string[];
  /** Of each user with spec.auth…secretRef (`app` for that of spec.auth), what its Secret was found to be. */
  readonly copies?: Readonly<Record<string, CopySeen>>;
  /** Of each further user whose password the agent makes: its Secret <name>-user-<user>. */
  readonly userConnections?: Readonly<Record<string, 'MISSING' | 'OUTDATED' | 'CURRENT'>>;
}

/**
 * A user's Secret beside what the credentials Secret holds: the current password (SAME), the coming one (NEXT), or neither
 * (DIFFERENT), were it the one before. NOT_ALLOWED: it lacks the label redis.atoll.dev/allow=true.
 * UNUSABLE: the key is missing or empty, or its value has characters that no password may have.
 */
export type CopySeen = 'ABSENT' | 'NOT_ALLOWED' | 'UNUSABLE' | 'SAME' | 'NEXT' | 'DIFFERENT';
