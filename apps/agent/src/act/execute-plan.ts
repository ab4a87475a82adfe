/**
 * Carries out a plan, action by action, in its order. It decides nothing: what a failed action holds up is told by
 * isHeldByFailure (libs/domain). Only when this agent may not write any more does the whole plan end: its Lease is too
 * old, or the namespace has another owner.
 */
import { isHeldByFailure } from '#domain';
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
import { FencedError, NOT_OWNER, RefusedError } from './execution-context.ts';

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

/** Whoever acts now is another: each further write would be refused too, or worse, not be. */
const endsAll = (error: unknown): boolean =>
  error instanceof FencedError || (error instanceof RefusedError && error.code === NOT_OWNER);

const isUnanswered = (error: unknown): boolean => isKubeError(error) && error.isUnreachable;

interface Failed {
  readonly action: Action;
  readonly unanswered: boolean;
}

const executeOne = (action: Action, context: ExecutionContext): Promise<void> =>
  (EXECUTORS[action.kind] as Executor<ActionKind>)(action, context);

/** Never rejects: a failure is part of the result, the first where there are several. */
export const executePlan = async (
  plan: Plan,
  given: Omit<ExecutionContext, 'noteRejectedConfig'>,
): Promise<PlanResult> => {
  const done: Action[] = [];
  const failed: Failed[] = [];
  const rejected = new Map<string, RejectedDirective>();
  const context = {
    ...given,
    noteRejectedConfig: (entry: RejectedDirective) => void rejected.set(`${entry.key} ${entry.engine ?? ''}`, entry),
  };
  let failure: PlanResult['failure'];
  for (const action of plan.actions) {
    if (failed.some((one) => isHeldByFailure(action, one.action, one.unanswered))) continue;
    try {
      await executeOne(action, context);
      done.push(action);
    } catch (error) {
      failure ??= describeFailure(action, error);
      if (endsAll(error)) break;
      failed.push({ action, unanswered: isUnanswered(error) });
    }
  }
  return {
    done,
    ...(rejected.size === 0 ? {} : { rejectedConfig: [...rejected.values()] }),
    ...(failure === undefined ? {} : { failure }),
  };
};
