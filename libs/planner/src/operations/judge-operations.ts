/**
 * What every open RedisOperation of one RedisCluster has come to in this pass, told from its status on the server and
 * from the world. It begins in one pass, which notes what is true, and acts from the next on, when the note is on the
 * server: so a kill at any instruction finds either no beginning or one that can be told from the world.
 */
import type { PlannedOperation, PlannedStatus, RedisOperationObject } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { consent } from './consent.ts';
import { failOver } from './fail-over.ts';
import { findPredecessor, isExclusive, openOperations } from './open-operations.ts';
import { verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind, OperationVerdict } from './operation-kind.ts';
import { previewPlan } from './preview-plan.ts';
import { replacePod } from './replace-pod.ts';
import { restartPods } from './restart-pods.ts';
import { rotateCredentials } from './rotate-credentials.ts';

export interface OperationsInput {
  readonly view: ClusterView;
  readonly primary: AnsweringPod | undefined;
  readonly status: PlannedStatus;
  readonly replan: OperationContext['replan'];
  /** The rule that ended this pass early, with its reason: nothing is begun behind its back. */
  readonly halted: { readonly reason: string; readonly message: string } | undefined;
}

const KINDS: Readonly<Record<RedisOperationObject['spec']['type'], OperationKind>> = {
  Failover: failOver,
  Restart: restartPods,
  RotateCredentials: rotateCredentials,
  ReplaceUnreachable: replacePod,
  Plan: previewPlan,
  Consent: consent,
};

export const judgeOperations = (input: OperationsInput): readonly PlannedOperation[] =>
  openOperations(input.view.snapshot).map((operation) => ({
    name: operation.metadata.name,
    uid: operation.metadata.uid ?? '',
    ...judge(operation, input),
  }));

const judge = (operation: RedisOperationObject, input: OperationsInput): OperationVerdict => {
  const { view, primary, status, replan } = input;
  const context: OperationContext = { operation, view, primary, status, replan };
  const kind = KINDS[operation.spec.type];
  const cancelled = operation.spec.cancel === true;
  if (operation.status?.phase === 'Running') return cancelled ? kind.cancel(context) : kind.proceed(context);
  if (cancelled) return verdict('Cancelled', 'Cancelled', 'It was called off before it began.');
  return explainExpiry(operation, input.view.nowMs) ?? explainTurn(operation, input) ?? begin(kind, context);
};

export const explainExpiry = ({ spec }: RedisOperationObject, nowMs: number): OperationVerdict | undefined => {
  if (spec.notAfter === undefined || nowMs <= Date.parse(spec.notAfter)) return undefined;
  return verdict('Expired', 'NotBegunInTime', `It was not begun by ${spec.notAfter}, and is not begun any more.`);
};

/** Why it has to wait; undefined when it is its turn. */
const explainTurn = (
  operation: RedisOperationObject,
  { view, halted }: OperationsInput,
): OperationVerdict | undefined => {
  if (!isExclusive(operation)) return undefined;
  const before = findPredecessor(view, operation);
  if (before !== undefined) {
    return verdict('Pending', 'WaitingForOperation', `RedisOperation ${before.metadata.name} goes first.`);
  }
  return halted === undefined ? undefined : verdict('Pending', halted.reason, halted.message);
};

const begin = (kind: OperationKind, context: OperationContext): OperationVerdict => {
  const broken = explainPrecondition(context);
  return broken === undefined
    ? kind.begin(context)
    : verdict('Failed', 'PreconditionFailed', `${broken} Nothing was done.`);
};

const explainPrecondition = ({ operation, view, primary }: OperationContext): string | undefined => {
  const { precondition = {} } = operation.spec;
  const current = primary?.name ?? view.snapshot.resource.status?.currentPrimary;
  return (
    compare('The RedisCluster is at generation', view.generation, precondition.generation) ??
    compare('The primary is', current, precondition.currentPrimary) ??
    compare('The primary term is', view.record?.primaryTerm, precondition.primaryTerm)
  );
};

const compare = <T extends string | number>(what: string, is: T | undefined, wanted: T | undefined) =>
  wanted === undefined || wanted === is ? undefined : `${what} ${is ?? 'unknown'}, not ${wanted}.`;
