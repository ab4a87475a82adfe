/**
 * Snapshot in, Plan out: asks the rules in their order and collects what they plan. Pure: the same picture, time and
 * policy always give the same plan. At most one disruptive action a plan (04): whatever a rule adds after the first is
 * left for the next pass, together with what that rule planned behind it.
 */
import type { Action, Plan, RolloutStatus } from '#domain';
import { buildStatus } from './build-status.ts';
import { buildClusterView } from './cluster-view.ts';
import type { ClusterView, DataPod } from './cluster-view.ts';
import { chooseShape } from './shape/choose-shape.ts';
import { rotationRecheckMs } from './describe-credentials.ts';
import { findPrimary } from './find-primary.ts';
import { DATA_NOT_SEEN } from './hold-memory.ts';
import { keepStatus } from './keep-status.ts';
import { noteHandover, recordHandover } from './note-handover.ts';
import { chooseHistory } from './operations/choose-history.ts';
import { judgeOperations } from './operations/judge-operations.ts';
import type { OperationsInput } from './operations/judge-operations.ts';
import { isExclusive, openOperations } from './operations/open-operations.ts';
import type { SwitchOverAction } from './plan-switchover.ts';
import type { PlannerInput } from './planner-input.ts';
import type { Finding, RuleOutcome } from './rule.ts';
import { RULES } from './rules.ts';
import { labelsAfter } from './rules/label-roles.ts';

/** After these gates nothing that was seen may be told, so the last status stays as it is. */
const BLIND_GATES = new Set(['NotOwner', 'StalePicture', 'DeletionReleased']);

export const planRedisCluster = (input: PlannerInput): Plan => {
  const view = chooseShape(buildClusterView(input));
  const primary = findPrimary(view);
  const actions: Action[] = [];
  const findings: Finding[] = [];
  let rollout: RolloutStatus | undefined;
  let halted: RuleOutcome | undefined;
  const trail: Plan['trail'][number][] = [];
  for (const rule of RULES) {
    const decided = rule.decide({ view, primary, planned: actions });
    if (decided === undefined) continue;
    const outcome = leaveOutDone(decided, input.isDone);
    if (isHeldByFence(view, outcome)) findings.unshift(tellHeld(outcome));
    else {
      const next = withinOneDisruption(actions, outcome);
      actions.push(...next.flatMap((one) => (one.kind === 'SwitchOver' ? surround(view, one, actions) : [one])));
    }
    findings.push(...(outcome.findings ?? []));
    rollout = outcome.rollout ?? rollout;
    trail.push({ rule: rule.name, reason: outcome.reason, message: outcome.message });
    if (outcome.halt !== true) continue;
    halted = outcome;
    break;
  }
  const blind = trail.some(({ reason }) => BLIND_GATES.has(reason));
  const status = blind ? keepStatus(view) : buildStatus({ view, primary, findings, actions, rollout });
  return {
    actions,
    trail,
    status,
    ...(blind
      ? {}
      : planOperations({
          view,
          primary,
          status,
          halted,
          replan: (snapshot, isDone) => planRedisCluster({ ...input, snapshot, isDone }),
        })),
    ...chooseRecheck(view, status.phase, actions),
  };
};

/** A hand-over with what is noted before it, and what is recorded and clients are told right after it. */
const surround = (view: ClusterView, handover: SwitchOverAction, planned: readonly Action[]): readonly Action[] => {
  const noted = noteHandover(view, handover, planned);
  const recorded = recordHandover(view, handover, [...planned, ...noted]);
  return [...noted, handover, ...recorded, ...labelsAfter(view, handover)];
};

const planOperations = (input: OperationsInput): Pick<Plan, 'operations' | 'forgetOperations'> => {
  const { operations } = input.view.snapshot;
  if (operations === undefined || operations.length === 0) return {};
  return { operations: judgeOperations(input), forgetOperations: chooseHistory(operations) };
};

const PROMOTES = new Set<Action['kind']>(['PromotePod', 'FailOverBySentinel', 'SwitchOver']);

/** While the fence stands nobody is made primary (spec.fencing); the first primary of a new data set is no danger. */
const isHeldByFence = ({ wanted }: ClusterView, { reason, actions = [] }: RuleOutcome): boolean =>
  wanted.fenced && reason !== 'CreatingDataSet' && actions.some(({ kind }) => PROMOTES.has(kind));

const leaveOutDone = (outcome: RuleOutcome, isDone: PlannerInput['isDone']): RuleOutcome =>
  isDone === undefined || outcome.actions === undefined
    ? outcome
    : { ...outcome, actions: outcome.actions.filter((action) => !isDone(action)) };

/** Before what the rule itself says: nothing goes on here until the user lifts the fence. */
const tellHeld = ({ message }: RuleOutcome): Finding => ({
  type: 'Stalled',
  status: 'True',
  reason: 'HeldByFence',
  message: `spec.fencing lets nobody be made primary, so this waits until it is lifted: ${message}`,
});

const withinOneDisruption = (planned: readonly Action[], { actions = [] }: RuleOutcome): readonly Action[] => {
  let free = !planned.some((action) => action.disruptive);
  const cut = actions.findIndex((action) => {
    if (!action.disruptive) return false;
    if (!free) return true;
    free = false;
    return false;
  });
  return cut === -1 ? actions : actions.slice(0, cut);
};

const QUIET_PHASES = new Set<Plan['status']['phase']>([
  'ActionRequired',
  'SpecRejected',
  'Ready',
  'Suspended',
  'Hibernated',
]);

/** Whether it does, only a second look can tell. */
const mayStandStill = ({ facts }: DataPod): boolean => facts.reachable && facts.unappliedForMs !== undefined;

/** It ends with what Redis says, and beside it a primary may have to be replaced. */
const awaitsData = ({ refusals, dataPods }: ClusterView): boolean =>
  dataPods.length > 0 && refusals.some(({ reason }) => reason === DATA_NOT_SEEN);

/** Redis changes without telling Kubernetes, so even a settled data set is looked at again. */
const chooseRecheck = (
  view: ClusterView,
  phase: Plan['status']['phase'],
  actions: readonly Action[],
): Pick<Plan, 'recheckAfterMs'> => {
  const { policy, snapshot } = view;
  if (!snapshot.ownsNamespace) return { recheckAfterMs: policy.recheckLaterMs };
  if (openOperations(snapshot).some(isExclusive)) return { recheckAfterMs: policy.recheckSoonMs };
  const rotationMs = rotationRecheckMs(view);
  if (rotationMs !== undefined && actions.length === 0) return { recheckAfterMs: rotationMs };
  const waiting = QUIET_PHASES.has(phase) && !awaitsData(view) && !view.dataPods.some(mayStandStill);
  return { recheckAfterMs: waiting && actions.length === 0 ? policy.recheckLaterMs : policy.recheckSoonMs };
};
