/**
 * Carries out a plan, action by action, in its order, and stops at the first failure: what follows was planned on the
 * assumption that what precedes is done. It decides nothing. One exception: an object that Kubernetes refuses (a quota, an
 * admission policy, a field that only the server checks) holds up further objects and restarts, and no repair. Without it a
 * typo in spec.scheduling would stop failovers, and the Services would not follow them.
 */
import type { Action, ActionKind, Plan, PlanResult, RejectedDirective } from '#domain';
import { isKubeError } from '#kube';
import { describeFailure } from './describe-failure.ts';
import { executeApplyChild } from './execute-apply-child.ts';
import { executeCreateCredentials } from './execute-create-credentials.ts';
import { executeDeleteChild } from './execute-delete-child.ts';
import { executeDeletePod } from './execute-delete-pod.ts';
import { executeEvictPod } from './execute-evict-pod.ts';
import { executeFailOverBySentinel } from './execute-fail-over-by-sentinel.ts';
import { executeFencePod, executeResumePod } from './execute-fence-pod.ts';
import { executeAddFinalizer, executeRemoveFinalizer } from './execute-finalizer.ts';
import { executeGrowVolume } from './execute-grow-volume.ts';
import { executeKeepVolume } from './execute-keep-volume.ts';
import { executeLabelRole } from './execute-label-role.ts';
import { executeMonitorPrimary } from './execute-monitor-primary.ts';
import { executeOrphanStatefulSet } from './execute-orphan-stateful-set.ts';
import { executePromotePod } from './execute-promote-pod.ts';
import { executePublishConnection } from './execute-publish-connection.ts';
import { executeRefreshPod } from './execute-refresh-pod.ts';
import { executeReplicateFrom } from './execute-replicate-from.ts';
import { executeResetSentinel } from './execute-reset-sentinel.ts';
import { executeSetAside } from './execute-set-aside.ts';
import { executeSetConfig } from './execute-set-config.ts';
import { executeSetSentinelSettings } from './execute-set-sentinel-settings.ts';
import { executeSwitchOver } from './execute-switch-over.ts';
import { executeStopMonitoring } from './execute-stop-monitoring.ts';
import { executeSetReplicationLogin } from './execute-set-replication-login.ts';
import { executeSetSentinelLogin } from './execute-set-sentinel-login.ts';
import { executeSetUsers } from './execute-set-users.ts';
import { executeWriteCredentials } from './execute-write-credentials.ts';
import { executeWriteRecord } from './execute-write-record.ts';
import type { ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError } from './execution-context.ts';

const EXECUTORS: { readonly [K in ActionKind]: Executor<K> } = {
  AddFinalizer: executeAddFinalizer,
  RemoveFinalizer: executeRemoveFinalizer,
  ApplyChild: executeApplyChild,
  DeleteChild: executeDeleteChild,
  CreateCredentials: executeCreateCredentials,
  PublishConnection: executePublishConnection,
  WriteRecord: executeWriteRecord,
  PromotePod: executePromotePod,
  ReplicateFrom: executeReplicateFrom,
  MonitorPrimary: executeMonitorPrimary,
  SetSentinelSettings: executeSetSentinelSettings,
  ResetSentinel: executeResetSentinel,
  SetConfig: executeSetConfig,
  WriteCredentials: executeWriteCredentials,
  SetUsers: executeSetUsers,
  SetReplicationLogin: executeSetReplicationLogin,
  SetSentinelLogin: executeSetSentinelLogin,
  LabelRole: executeLabelRole,
  EvictPod: executeEvictPod,
  StopMonitoring: executeStopMonitoring,
  OrphanStatefulSet: executeOrphanStatefulSet,
  GrowVolume: executeGrowVolume,
  KeepVolume: executeKeepVolume,
  RefreshPod: executeRefreshPod,
  DeletePod: executeDeletePod,
  SwitchOver: executeSwitchOver,
  FailOverBySentinel: executeFailOverBySentinel,
  FencePod: executeFencePod,
  ResumePod: executeResumePod,
  SetAside: executeSetAside,
};

const REPAIRS: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'WriteRecord',
  'PromotePod',
  'FailOverBySentinel',
  'ReplicateFrom',
  'MonitorPrimary',
  'LabelRole',
  'FencePod',
  'SetAside',
  'ResumePod',
]);

/** No more than that one object: a Lease that is too old and a server that is away stop everything. */
const isObjectRefused = ({ kind }: Action, error: unknown): boolean =>
  kind === 'ApplyChild' && (error instanceof RefusedError || (isKubeError(error) && !error.isUnreachable));

const executeOne = (action: Action, context: ExecutionContext): Promise<void> =>
  (EXECUTORS[action.kind] as Executor<ActionKind>)(action, context);

/** Never rejects: a failure is part of the result. */
export const executePlan = async (
  plan: Plan,
  given: Omit<ExecutionContext, 'noteRejectedConfig'>,
): Promise<PlanResult> => {
  const done: Action[] = [];
  const rejected = new Map<string, RejectedDirective>();
  const context = { ...given, noteRejectedConfig: (entry: RejectedDirective) => void rejected.set(entry.key, entry) };
  const noted = () => (rejected.size === 0 ? {} : { rejectedConfig: [...rejected.values()] });
  let refusal: PlanResult['failure'];
  for (const action of plan.actions) {
    if (refusal !== undefined && !REPAIRS.has(action.kind)) continue;
    try {
      await executeOne(action, context);
    } catch (error) {
      const failure = refusal ?? describeFailure(action, error);
      if (!isObjectRefused(action, error)) return { done, ...noted(), failure };
      refusal = failure;
      continue;
    }
    done.push(action);
  }
  return { done, ...noted(), ...(refusal === undefined ? {} : { failure: refusal }) };
};
