/**
 * Turns what the planner saw into the status that is written: adds the times that need memory (lastTransitionTime, the
 * flight recorder) from the last status, and what happened to the plan. Invariant: the same picture twice gives an equal
 * status, so a settled object is never written again; a status that moves by itself would wake its own watch for ever.
 */
import { ANNOTATION, LEFT_BEHIND } from '#domain';
import type {
  Condition,
  ConfigStatus,
  Plan,
  PlannedStatus,
  PlanResult,
  RedisClusterObject,
  RedisClusterStatus,
  RejectedDirective,
  SetAsideStatus,
} from '#domain';
import { appendDecisions, decisionsOf } from './flight-recorder.ts';

/** One failed pass may be a lost race; this many in a row are worth a condition. */
export const STALLED_AFTER_FAILURES = 3;

export interface MergeStatusInput {
  readonly resource: RedisClusterObject;
  /** The newest status known, which may be newer than the one in `resource`. */
  readonly last: RedisClusterStatus | undefined;
  readonly plan: Plan;
  readonly result: PlanResult;
  /** Passes that failed in a row before this one. */
  readonly failuresBefore: number;
  /** RFC 3339. */
  readonly now: string;
}

type PlannedCondition = PlannedStatus['conditions'][number];

const stalledBy = (input: MergeStatusInput): PlannedCondition | undefined => {
  const { failure } = input.result;
  if (failure === undefined || input.failuresBefore + 1 < STALLED_AFTER_FAILURES) return undefined;
  return {
    type: 'Stalled',
    status: 'True',
    reason: failure.reason,
    message: failure.message,
    observedGeneration: input.resource.metadata.generation ?? 0,
  };
};

const mergeConditions = (input: MergeStatusInput): Condition[] => {
  const stalled = stalledBy(input);
  const planned = input.plan.status.conditions.map((condition) =>
    condition.type === 'Stalled' && stalled !== undefined ? stalled : condition,
  );
  const known = new Map((input.last?.conditions ?? []).map((condition) => [condition.type, condition]));
  return settleKstatus(planned).map((condition) => {
    const before = known.get(condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : input.now;
    return { ...condition, message: tellSince(condition, since), lastTransitionTime: since };
  });
};

/**
 * What is stuck does not get on by itself: with Reconciling beside Stalled, kstatus would read "in progress" for ever, and
 * whoever waits (`flux`, `helm --wait`, a pipeline) would never be told of the failure.
 */
const settleKstatus = (conditions: readonly PlannedCondition[]): readonly PlannedCondition[] => {
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  if (stalled === undefined) return conditions;
  return conditions.map((condition) =>
    condition.type === 'Reconciling'
      ? { ...condition, status: 'False', reason: stalled.reason, message: `Stalled: ${stalled.message}` }
      : condition,
  );
};

/** The time is that of the condition, so that the sentence stands still. */
const tellSince = ({ type, status, message }: PlannedCondition, since: string): string =>
  type === 'Stalled' && status === 'True' && !TELLS_TIME.test(message) ? `${message} Since ${since}.` : message;
const TELLS_TIME = /\b[Ss]ince \d{4}-\d\d-\d\dT/;

/**
 * What servers refused in this pass is remembered from it on: the planner sends it no more. By directive and engine: while
 * a version changes two of them run, and what one said must not be forgotten for what the other says.
 */
const mergeConfig = ({ plan, result }: MergeStatusInput): ConfigStatus | undefined => {
  const { config } = plan.status;
  const fresh = result.rejectedConfig ?? [];
  if (config === undefined || fresh.length === 0) return config;
  const others = config.rejected.filter((entry) => !fresh.some((newer) => isSameRefusal(newer, entry)));
  return { ...config, rejected: [...others, ...fresh].sort((a, b) => (a.key < b.key ? -1 : 1)) };
};

const isSameRefusal = (a: RejectedDirective, b: RejectedDirective): boolean =>
  a.key === b.key && (a.engine === b.engine || b.engine === undefined);

/** Copies without the fields that are undefined, as JSON would. */
const compact = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const hubGenerationOf = (resource: RedisClusterObject): number | undefined => {
  const text = resource.metadata.annotations?.[ANNOTATION.hubGeneration];
  const value = Number(text);
  return text !== undefined && Number.isSafeInteger(value) ? value : undefined;
};

/** Old entries go first: the files are the users' to take or to remove, and a status must not grow for ever. */
const MAX_SET_ASIDE = 10;

/**
 * What was kept, once it is complete: only done actions count, since a rival is erased on the strength of this. Of folders
 * that pods left behind the plan says what lies there now.
 */
const mergeSetAside = ({ last, plan, result, now }: MergeStatusInput): readonly SetAsideStatus[] => {
  const known = (last?.setAside ?? []).filter(({ reason }) => reason !== LEFT_BEHIND);
  const fresh = result.done.flatMap((action) =>
    action.kind === 'SetAside' && !known.some(({ pod, file }) => pod === action.pod && file === action.file)
      ? [{ pod: action.pod, file: action.file, at: now, reason: action.reason }]
      : [],
  );
  return [...[...known, ...fresh].slice(-MAX_SET_ASIDE), ...(plan.status.setAside ?? [])];
};

/** Who takes over, unless that came to nothing: a lost record is taken back from it (planner/question-hearsay.ts). */
const mergeTarget = ({ plan, result }: MergeStatusInput): string | undefined => {
  const handover = plan.actions.find(({ kind }) => kind === 'SwitchOver');
  return handover === undefined || result.done.includes(handover) ? plan.status.targetPrimary : undefined;
};

/** The complete status to write. Pure; equal input gives equal output. */
export const mergeStatus = (input: MergeStatusInput): RedisClusterStatus => {
  const { pods, sentinels, conditions: _, setAside: __, ...states } = input.plan.status;
  const fresh = decisionsOf(input.plan, input.result, input.now);
  const setAside = mergeSetAside(input);
  return compact({
    ...states,
    ...(setAside.length === 0 ? {} : { setAside }),
    observedGeneration: input.resource.metadata.generation,
    observedHubGeneration: hubGenerationOf(input.resource),
    mode: input.resource.spec.mode,
    ready: `${states.readyPods}/${states.size}`,
    conditions: mergeConditions(input),
    targetPrimary: mergeTarget(input),
    config: mergeConfig(input),
    shards: [{ name: 'shard-0', pods }],
    sentinels: sentinels.length === 0 ? undefined : sentinels,
    decisions: appendDecisions(input.last?.decisions ?? [], fresh),
  }) as RedisClusterStatus;
};
