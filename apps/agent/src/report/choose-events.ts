/**
 * Which Kubernetes Events a pass deserves: one for each thing that was done that a person wants to know, one for a change
 * of phase, one for a failure. A settled pass gives none. Events are for people; nothing is decided from them.
 */
import { LEFT_BEHIND, describeBytes } from '#domain';
import type { ActionKind, PlanResult, RedisClusterStatus } from '#domain';
import { groupByReason } from './flight-recorder.ts';

export interface EventToTell {
  readonly severity: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Housekeeping of every pass, and steps that the change of phase tells already. */
const QUIET: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'AddFinalizer',
  'RemoveFinalizer',
  'PublishConnection',
  'WriteRecord',
  'LabelRole',
  'ResumePod',
]);
const WORRYING: ReadonlySet<string> = new Set(['Degraded', 'ActionRequired', 'SpecRejected']);

const ofPhase = (before: RedisClusterStatus | undefined, after: RedisClusterStatus): EventToTell[] => {
  if (after.phase === undefined || before?.phase === after.phase) return [];
  const ready = after.conditions?.find((condition) => condition.type === 'Ready');
  return [
    {
      severity: WORRYING.has(after.phase) ? 'Warning' : 'Normal',
      reason: after.phase,
      message: ready?.message ?? `The phase is ${after.phase} now.`,
    },
  ];
};

/** What a pod left when it was scaled away lies on its volume since this pass. */
const ofLeftFolders = (before: RedisClusterStatus | undefined, after: RedisClusterStatus): EventToTell[] => {
  const known = new Set((before?.setAside ?? []).map(({ pod, file }) => `${pod}/${file}`));
  return (after.setAside ?? [])
    .filter(({ pod, file, reason }) => reason === LEFT_BEHIND && !known.has(`${pod}/${file}`))
    .map(({ pod, file, bytes = 0 }) => ({
      severity: 'Normal',
      reason: LEFT_BEHIND,
      message:
        `${pod} came back to a volume of an earlier size; what lay there is kept in /data/${file} ` +
        `(${describeBytes(bytes)}) until somebody removes it: docs/how-to/full-volumes.md.`,
    }));
};

/** Events of one pass, in the order to tell them; consecutive actions of one reason are one event. */
export const chooseEvents = (
  before: RedisClusterStatus | undefined,
  after: RedisClusterStatus,
  result: PlanResult,
): EventToTell[] => {
  const loud = result.done.filter((action) => !QUIET.has(action.kind));
  const events: EventToTell[] = groupByReason(loud).map(({ reason, message, actions }) => ({
    severity: actions.some((action) => action.disruptive) ? 'Warning' : 'Normal',
    reason,
    message: actions.length === 1 ? message : `${message} And ${actions.length - 1} more.`,
  }));
  if (result.failure !== undefined) {
    events.push({ severity: 'Warning', reason: result.failure.reason, message: result.failure.message });
  }
  events.push(...ofLeftFolders(before, after), ...ofPhase(before, after));
  return events;
};
