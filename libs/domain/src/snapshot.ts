/**
 * What `observe` gathers once per pass, as dated plain data. The planner decides from this and nothing else, so every
 * field says when or how it was seen, and "not reachable" is a value of its own, never a missing one.
 */
import type { KubeObject, RedisClusterObject } from './redis-cluster.ts';

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
  readonly image?: string;
  /** False when the pod's Node object is NotReady or gone. */
  readonly nodeReady: boolean;
  readonly controllerRevision?: string;
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
      readonly masterHost?: string;
      readonly masterPort?: number;
      readonly linkUp?: boolean;
      /** How long the link to the primary has been down, in ms; absent when it is up or never was. */
      readonly linkDownSinceMs?: number;
      readonly syncInProgress: boolean;
      readonly connectedReplicas: number;
      readonly loading: boolean;
      readonly keys: number;
      /** Live value per directive of the spec's config, for drift and for ConfigApplied. */
      readonly config: Readonly<Record<string, string>>;
    }
  | {
      readonly reachable: false;
      readonly reason: 'REFUSED' | 'TIMEOUT' | 'CLOSED' | 'AUTH' | 'NO_ADDRESS' | 'OTHER';
      readonly message: string;
    };

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
    }
  | { readonly reachable: false; readonly reason: string; readonly message: string };

/** What survives the RedisCluster object: kept in a ConfigMap of the data set, see `record` in libs/manifests. */
export interface DataSetRecord {
  readonly dataSetId: string;
  readonly primaryTerm: number;
  readonly primaryPod?: string;
  readonly primaryVersion?: string;
  readonly renderVersion: number;
}

export interface RedisClusterSnapshot {
  readonly observedAtMs: number;
  readonly resource: RedisClusterObject;
  /** The CRD itself has a deletionTimestamp: let go, keep every child. */
  readonly crdTerminating: boolean;
  /** This agent is owner of the namespace by ConfigMap atoll-scope. */
  readonly ownsNamespace: boolean;
  readonly scopeOwner?: string;
  /** Children found by the data set label, by kind. Secrets carry a digest in place of their data. */
  readonly children: readonly KubeObject[];
  readonly record?: DataSetRecord;
  readonly pods: readonly PodSnapshot[];
  readonly redis: Readonly<Record<string, RedisNodeFacts>>;
  readonly sentinels: Readonly<Record<string, SentinelFacts>>;
  readonly nodes: readonly { readonly name: string; readonly ready: boolean }[];
  /** True when Secret <name>-<hash>-credentials exists with all the keys that the render version needs. */
  readonly credentialsPresent: boolean;
  /** Secret <name>-connection tells clients another password than the credentials hold. */
  readonly connectionOutdated?: boolean;
}
