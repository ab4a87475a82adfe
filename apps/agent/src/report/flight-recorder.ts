/**
 * The flight recorder `status.decisions`: what was seen, what was done, why, bounded to the newest 20 entries. A decision
 * that only repeats the newest one is not written again: it would raise the object's version on each retry and wake
 * every watcher, and a long retry would push the interesting entries out.
 */
import type { Action, ActionKind, Decision, Plan, PlanResult } from '#domain';

export const MAX_DECISIONS = 20;
/** Keeps one entry readable in `kubectl describe`, and the object small. */
const MAX_TEXT = 240;

const shorten = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`);

type TargetOf = { readonly [K in ActionKind]: (action: Extract<Action, { readonly kind: K }>) => string };

const TARGET: TargetOf = {
  AddFinalizer: () => '',
  RemoveFinalizer: () => '',
  ApplyChild: ({ object }) => `${object.kind} ${object.metadata.name}`,
  DeleteChild: ({ objectKind, key }) => `${objectKind} ${key.name}`,
  CreateCredentials: ({ key }) => key.name,
  PublishConnection: ({ key }) => key.name,
  WriteRecord: ({ key }) => key.name,
  PromotePod: ({ pod }) => pod,
  ReplicateFrom: ({ pod, primaryHost, primaryPort }) => `${pod} ← ${primaryHost}:${primaryPort}`,
  MonitorPrimary: ({ sentinelPod }) => sentinelPod,
  SetSentinelSettings: ({ sentinelPod }) => sentinelPod,
  ResetSentinel: ({ sentinelPod }) => sentinelPod,
  SetConfig: ({ pod }) => pod,
  LabelRole: ({ pod, role }) => `${pod}=${role}`,
  EvictPod: ({ pod }) => pod,
  DeletePod: ({ pod }) => pod,
  SwitchOver: ({ from, to }) => `${from} → ${to}`,
  FailOverBySentinel: ({ deadPod, sentinelPod }) => `${deadPod} by ${sentinelPod}`,
  FencePod: ({ pod }) => pod,
  ResumePod: ({ pod }) => pod,
  SetAside: ({ pod, file }) => `${pod} ${file}`,
  OrphanStatefulSet: ({ key }) => key.name,
  StopMonitoring: ({ sentinelPod }) => sentinelPod,
  RefreshPod: ({ pod }) => pod,
  KeepVolume: ({ key, file }) => `${key.name} ${file}`,
  GrowVolume: ({ key, size }) => `${key.name} ${size}`,
  WriteCredentials: ({ key, step }) => `${key.name} ${step}`,
  SetUsers: ({ pod }) => pod,
  SetReplicationLogin: ({ pod }) => pod,
  SetSentinelLogin: ({ sentinelPod }) => sentinelPod,
};

/** What an action does, to what, in one phrase: `ApplyChild StatefulSet cache-abc`. Never carries values of Secrets. */
export const describeAction = (action: Action): string =>
  `${action.kind} ${(TARGET[action.kind] as (action: Action) => string)(action)}`.trimEnd();

export interface ActionGroup {
  readonly reason: string;
  /** Of the first. */
  readonly message: string;
  readonly actions: Action[];
}

/** Consecutive actions of one reason are one decision: a creation is one entry, not one for each child. */
export const groupByReason = (actions: readonly Action[]): ActionGroup[] => {
  const groups: ActionGroup[] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    if (last?.reason === action.reason) last.actions.push(action);
    else groups.push({ reason: action.reason, message: action.message, actions: [action] });
  }
  return groups;
};

const describeGroup = (actions: readonly Action[]): string => {
  const names = actions.slice(0, 3).map(describeAction);
  const rest = actions.length - names.length;
  return rest > 0 ? `${names.join(', ')} and ${rest} more` : names.join(', ');
};

/** The decisions of one pass, oldest first; empty when nothing was done and nothing failed. */
export const decisionsOf = (plan: Plan, result: PlanResult, time: string): Decision[] => {
  const decisions = groupByReason(result.done).map((group) => ({
    time,
    observation: shorten(group.message),
    action: shorten(describeGroup(group.actions)),
    reason: group.reason,
  }));
  if (result.failure === undefined) return decisions;
  const { action, reason, message } = result.failure;
  const why = plan.trail.find((entry) => entry.reason === action.reason)?.message ?? action.message;
  return [
    ...decisions,
    { time, observation: shorten(`${why} → ${message}`), action: shorten(`failed: ${describeAction(action)}`), reason },
  ];
};

const repeats = (a: Decision, b: Decision | undefined): boolean =>
  b !== undefined && a.reason === b.reason && a.action === b.action && a.observation === b.observation;

/** Appends to the record; what only repeats the newest entry is left out. */
export const appendDecisions = (recorded: readonly Decision[], fresh: readonly Decision[]): readonly Decision[] => {
  const all = [...recorded];
  for (const decision of fresh) if (!repeats(decision, all.at(-1))) all.push(decision);
  return all.length === recorded.length ? recorded : all.slice(-MAX_DECISIONS);
};
