/**
 * What the planner says should happen: plain data, the same for the executor, the status, events, the log and a dry
 * run, so they cannot disagree. Each action has one executor file in apps/agent/src/act.
 */
import type { ObjectKey } from './ids.ts';
import type { KubeObject } from './redis-cluster.ts';
import type { EngineType } from './redis-cluster-spec.ts';
import type {
  Condition,
  ConfigStatus,
  CredentialsStatus,
  Endpoints,
  Phase,
  PodStatus,
  RejectedDirective,
  RolloutStatus,
  SetAsideStatus,
} from './redis-cluster-status.ts';
import type { PlannedOperation } from './redis-operation.ts';
import type { DataSetRecord } from './snapshot.ts';

interface ActionBase {
  /** Stable code in CamelCase. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** True when it interrupts or endangers service; at most one such action a plan. */
  readonly disruptive: boolean;
}

export type Action = ActionBase &
  (
    | { readonly kind: 'AddFinalizer' }
    | { readonly kind: 'RemoveFinalizer' }
    /** Server-side apply, forced: a child belongs to the operator alone. */
    | { readonly kind: 'ApplyChild'; readonly object: KubeObject }
    /** Delete one child by name; `uid` is the precondition. */
    | {
        readonly kind: 'DeleteChild';
        readonly apiVersion: string;
        readonly objectKind: string;
        readonly key: ObjectKey;
        readonly uid: string;
      }
    /** Make Secret <name>-<hash>-credentials with fresh random passwords, only when it is absent. */
    | {
        readonly kind: 'CreateCredentials';
        readonly key: ObjectKey;
        readonly dataSetHash: string;
        readonly users: readonly string[];
        /** Secret of the user's to copy from, by user. */
        readonly copyFrom?: Readonly<Record<string, { readonly name: string; readonly key: string }>>;
      }
    /** Publish Secret <name>-connection from the credentials. */
    | {
        readonly kind: 'PublishConnection';
        readonly key: ObjectKey;
        readonly fields: Readonly<Record<string, string>>;
        /** Key in the credentials Secret. Default: the application user's. */
        readonly passwordKey?: string;
      }
    /** Write the record ConfigMap of the data set before the action that makes it true. */
    | { readonly kind: 'WriteRecord'; readonly key: ObjectKey; readonly record: DataSetRecord }
    /** REPLICAOF NO ONE; the precondition is read again on the server right before. */
    | {
        readonly kind: 'PromotePod';
        readonly pod: string;
        readonly expectRunId: string;
        readonly onlyIfEmpty: boolean;
        readonly onlyIfWaiting: boolean;
        /** The address that was proven dead by refusals: asked once more right before. */
        readonly onlyIfRefused?: string;
      }
    | {
        readonly kind: 'ReplicateFrom';
        readonly pod: string;
        readonly expectRunId: string;
        readonly primaryHost: string;
        readonly primaryPort: number;
      }
    | {
        readonly kind: 'MonitorPrimary';
        readonly sentinelPod: string;
        readonly masterName: string;
        readonly primaryHost: string;
        readonly primaryPort: number;
        readonly quorum: number;
        readonly settings: Readonly<Record<string, string>>;
      }
    | {
        readonly kind: 'SetSentinelSettings';
        readonly sentinelPod: string;
        readonly masterName: string;
        readonly settings: Readonly<Record<string, string>>;
      }
    /** SENTINEL RESET: it forgets every replica and peer and finds those of today anew, within seconds. */
    | {
        readonly kind: 'ResetSentinel';
        readonly sentinelPod: string;
        readonly masterName: string;
        /** Precondition, read again right before: what it monitors. */
        readonly expectPrimaryHost: string;
      }
    | { readonly kind: 'SetConfig'; readonly pod: string; readonly values: Readonly<Record<string, string>> }
    | {
        readonly kind: 'LabelRole';
        readonly pod: string;
        readonly podUid: string;
        readonly role: 'primary' | 'replica';
      }
    /** Eviction API, so that budgets count it. */
    | { readonly kind: 'EvictPod'; readonly pod: string; readonly podUid: string }
    /**
     * Delete a pod that serves nobody (it never started), or, with `force` (grace 0), one whose node a person declared
     * dead by ReplaceUnreachable.
     */
    | { readonly kind: 'DeletePod'; readonly pod: string; readonly podUid: string; readonly force: boolean }
    /**
     * The paused hand-over of redis-engine 1.1.3: pause writes → offsets equal → hand over → old primary follows →
     * resume. Gives up, resumes writes and fails without a change of roles when a step is not reached in time. SENTINEL
     * uses SENTINEL FAILOVER, COMMAND the server's own FAILOVER TO (never under Sentinel).
     */
    | {
        readonly kind: 'SwitchOver';
        readonly method: 'SENTINEL' | 'COMMAND';
        readonly from: string;
        readonly fromRunId: string;
        readonly to: string;
        readonly toRunId: string;
        readonly toHost: string;
        readonly masterName?: string;
        /** Sentinels that agree on the old primary and see a quorum; the first is told to fail over. */
        readonly sentinelPods: readonly string[];
        /** The other linked replicas: caught up before the hand-over too, and moved along with it. */
        readonly replicas: readonly { readonly pod: string; readonly runId: string }[];
      }
    /** SENTINEL FAILOVER on proof of death; what proves it is asked again right before. */
    | {
        readonly kind: 'FailOverBySentinel';
        readonly sentinelPod: string;
        readonly masterName: string;
        readonly expectPrimaryHost: string;
        readonly deadPod: string;
        /** EXIT: its address must refuse once more. GONE: no pod may have that address. */
        readonly proof: 'EXIT' | 'GONE';
        /** Those that followed it, to be moved to the one that is promoted, as Sentinel does a second later. */
        readonly replicas: readonly { readonly pod: string; readonly runId: string }[];
        /** Addresses of data pods that exist and do not answer: each may live, and be further than those that do. */
        readonly silentHosts: readonly string[];
      }
    /** Writes are paused and every client connection but ours is closed; lifted by itself after `pauseMs`. */
    | { readonly kind: 'FencePod'; readonly pod: string; readonly expectRunId: string; readonly pauseMs: number }
    | { readonly kind: 'ResumePod'; readonly pod: string; readonly expectRunId: string }
    /** Write an RDB beside the live files on the pod's data volume, under this file name, and wait for it. */
    | { readonly kind: 'SetAside'; readonly pod: string; readonly expectRunId: string; readonly file: string }
    /** Delete a StatefulSet and leave its pods and volumes running; the next pass makes it anew (volume growth). */
    | { readonly kind: 'OrphanStatefulSet'; readonly key: ObjectKey; readonly uid: string }
    /** SENTINEL REMOVE: this Sentinel can fail over no more. Refused while it runs a failover. */
    | { readonly kind: 'StopMonitoring'; readonly sentinelPod: string; readonly masterName: string }
    /** Annotate a pod, which makes its kubelet bring the ConfigMap volumes up to date now and not within two minutes. */
    | { readonly kind: 'RefreshPod'; readonly pod: string; readonly podUid: string; readonly settings: string }
    /** Names on a volume's claim what was kept on it, before everything else of the data set is deleted. */
    | { readonly kind: 'KeepVolume'; readonly key: ObjectKey; readonly uid: string; readonly file: string }
    /** Ask for a bigger volume. */
    | { readonly kind: 'GrowVolume'; readonly key: ObjectKey; readonly uid: string; readonly size: string }
    /**
     * One step of the credentials Secret, under the resourceVersion of what was seen. ADD writes a coming password beside
     * the current one (for a key that has none: the current one), SWITCH makes the coming ones current and keeps those of
     * before, PUBLISHED notes that clients were told, REMOVE_PREVIOUS ends it, REMOVE_USERS takes keys out. Passwords never
     * leave the executor.
     */
    | {
        readonly kind: 'WriteCredentials';
        readonly key: ObjectKey;
        readonly step: CredentialsStep;
        /** Keys of the Secret. */
        readonly passwordKeys: readonly string[];
        /** Secret of the user's to copy from, by key. */
        readonly copyFrom?: Readonly<Record<string, { readonly name: string; readonly key: string }>>;
        readonly resourceVersion: string;
        /** Annotations to write; an empty text takes one away. */
        readonly annotations: Readonly<Record<string, string>>;
      }
    /** ACL SETUSER + ACL SAVE for these users, passwords as the Secret holds them; DELUSER for those of `remove`. */
    | {
        readonly kind: 'SetUsers';
        readonly pod: string;
        readonly component: 'redis' | 'sentinel';
        readonly users: readonly string[];
        readonly remove?: readonly string[];
      }
    /** Replicas' and Sentinels' own logins at the primary: masterauth, sentinel auth-pass, to the current password. */
    | { readonly kind: 'SetReplicationLogin'; readonly pod: string }
    | { readonly kind: 'SetSentinelLogin'; readonly sentinelPod: string; readonly masterName: string }
  );
export type ActionKind = Action['kind'];
export type CredentialsStep = 'ADD' | 'SWITCH' | 'PUBLISHED' | 'REMOVE_PREVIOUS' | 'REMOVE_USERS';

/** Status as the planner sees it, without times of transition: `report` fills those from the last status. */
export interface PlannedStatus {
  readonly phase: Phase;
  readonly conditions: readonly Omit<Condition, 'lastTransitionTime'>[];
  readonly readyPods: number;
  readonly size: number;
  readonly currentPrimary?: string;
  readonly targetPrimary?: string;
  readonly primaryTerm?: number;
  readonly primaryVersion?: string;
  readonly primaryEngine?: EngineType;
  readonly engineVersion?: string;
  readonly pods: readonly PodStatus[];
  readonly sentinels: readonly PodStatus[];
  readonly endpoints?: Endpoints;
  readonly dataSetId: string;
  readonly renderVersion: number;
  readonly rollout?: RolloutStatus;
  readonly config?: ConfigStatus;
  readonly credentials?: CredentialsStatus;
  /** What lies on the volumes now; what actions of this or an earlier plan set aside is kept besides. */
  readonly setAside?: readonly SetAsideStatus[];
  readonly capabilities?: readonly string[];
}

export interface Plan {
  readonly actions: readonly Action[];
  /** Names of the rules that spoke, in order, with their reasons: the trail of the decision. */
  readonly trail: readonly { readonly rule: string; readonly reason: string; readonly message: string }[];
  readonly status: PlannedStatus;
  /** What each RedisOperation of this RedisCluster has come to. */
  readonly operations?: readonly PlannedOperation[];
  /** Ended RedisOperations beyond the history limit, to be deleted. */
  readonly forgetOperations?: readonly { readonly name: string; readonly uid: string }[];
  /** Look again after this long even when nothing changes; undefined: only on change or resync. */
  readonly recheckAfterMs?: number;
}

/** What became of a plan. `failure` is the first; `done` may hold actions from behind it (is-held-by-failure.ts). */
export interface PlanResult {
  readonly done: readonly Action[];
  readonly failure?: {
    readonly action: Action;
    /** Stable code in CamelCase, for instance `ApplyChildFailed`. */
    readonly reason: string;
    /** A sentence for people, without secrets. */
    readonly message: string;
    /** Which precondition was refused, where one was. */
    readonly code?: string;
  };
  /** Directives that servers refused or changed; the rest of their SetConfig was done. */
  readonly rejectedConfig?: readonly RejectedDirective[];
}
