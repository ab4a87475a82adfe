/**
 * The status of a RedisOperation from what the planner found and from what was there before. Invariant: what was noted at
 * the beginning stays, since progress is told from it, and an operation that ended is never opened again.
 */
import { isOperationOver } from '#domain';
import type { OperationStep, PlannedOperation, PlanResult, RedisOperationObject, RedisOperationStatus } from '#domain';

export interface OperationStatusInput {
  readonly operation: RedisOperationObject;
  /** The newest status known. */
  readonly last: RedisOperationStatus | undefined;
  readonly planned: PlannedOperation;
  /** RFC 3339. */
  readonly now: string;
}

export const mergeOperationStatus = ({ operation, last, planned, now }: OperationStatusInput): RedisOperationStatus => {
  if (last !== undefined && isOperationOver(last.phase)) return last;
  const { phase, reason, message } = planned;
  return {
    phase,
    reason,
    message,
    ...tellTimes(last, phase, now),
    ...keepNotes(last, planned, now),
    observedGeneration: operation.metadata.generation ?? 0,
    conditions: buildConditions(operation, last, planned, now),
  };
};

const tellTimes = (
  last: RedisOperationStatus | undefined,
  phase: PlannedOperation['phase'],
  now: string,
): Pick<RedisOperationStatus, 'startedAt' | 'finishedAt'> => {
  const startedAt = last?.startedAt ?? (phase === 'Running' ? now : undefined);
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(isOperationOver(phase) ? { finishedAt: now } : {}),
  };
};

/** Steps that are not told anew stay as they were. */
const keepNotes = (
  last: RedisOperationStatus = {},
  planned: PlannedOperation,
  now: string,
): Pick<RedisOperationStatus, 'steps' | 'noted' | 'plan'> => {
  const steps = planned.steps.length > 0 ? stampSteps(planned.steps, last.steps ?? [], now) : last.steps;
  const noted = last.noted ?? planned.noted;
  const plan = planned.plan ?? last.plan;
  return {
    ...(steps === undefined ? {} : { steps }),
    ...(noted === undefined ? {} : { noted }),
    ...(plan === undefined ? {} : { plan }),
  };
};

const stampSteps = (steps: readonly OperationStep[], last: readonly OperationStep[], now: string): OperationStep[] =>
  steps.map((step) => {
    const before = last.find(({ name, state }) => name === step.name && state === step.state);
    return { ...step, at: before?.at ?? now };
  });

/** As those of a Job, so that `kubectl wait --for=condition=Complete` works. */
const buildConditions = (
  { metadata }: RedisOperationObject,
  last: RedisOperationStatus | undefined,
  { phase, reason, message }: PlannedOperation,
  now: string,
): NonNullable<RedisOperationStatus['conditions']> => {
  const ended = isOperationOver(phase);
  const states = { Complete: phase === 'Succeeded', Failed: ended && phase !== 'Succeeded' };
  return Object.entries(states).map(([type, holds]) => {
    const status = holds ? 'True' : 'False';
    const before = last?.conditions?.find((condition) => condition.type === type && condition.status === status);
    const lastTransitionTime = before?.lastTransitionTime ?? now;
    return { type, status, reason, message, lastTransitionTime, observedGeneration: metadata.generation ?? 0 };
  });
};

/** Refusals after which a hand-over is not tried again: the writers were paused in vain. */
const FINAL: ReadonlySet<string> = new Set(['NOT_CAUGHT_UP']);

/** What a failed action of this pass means for the operation that asked for it. */
export const noteFailure = (
  planned: PlannedOperation,
  operation: RedisOperationObject,
  failure: PlanResult['failure'],
): PlannedOperation => {
  if (failure === undefined || planned.phase !== 'Running' || !isAskedBy(operation, failure.action)) return planned;
  const { reason, message, code = '' } = failure;
  const steps = planned.steps.map((step): OperationStep =>
    step.state === 'Running' ? { ...step, message, ...(FINAL.has(code) ? { state: 'Failed' } : {}) } : step,
  );
  return { ...planned, ...(FINAL.has(code) ? { phase: 'Failed' as const } : {}), reason, message, steps };
};

const isAskedBy = ({ spec }: RedisOperationObject, action: NonNullable<PlanResult['failure']>['action']): boolean => {
  if (spec.type === 'Failover') return action.kind === 'SwitchOver' && action.reason === 'FailoverRequested';
  return spec.type === 'ReplaceUnreachable' && action.kind === 'DeletePod' && action.reason === 'ReplacingUnreachable';
};
