/**
 * A replica that reads its primary's stream and applies nothing of it. Its link says up and its lag a second, so it
 * counts for min-replicas-to-write and keeps writes coming that only the primary has; with the primary those are lost.
 * What we know that does it is a pause of writes (CLIENT PAUSE) that outlived a change of role: an agent killed in the
 * middle of a hand-over, or a Sentinel that demoted a fenced primary first. A replica refuses writes by itself, so ending
 * a pause there takes nothing from anybody, and where there was none it does nothing.
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod } from '../cluster-view.ts';
import type { Action } from '#domain';
import type { Finding, Rule } from '../rule.ts';

/** A large value that is still being read looks the same for a moment. */
const STANDS_STILL_MS = 1_000;
/** By then every pause of ours has ended, whether or not it was lifted. */
const NO_PAUSE_MS = 90_000;

export const resumeReplicas: Rule = {
  name: 'resume-replicas',
  decide: ({ view }) => {
    const still = view.dataPods.filter(answers).filter(standsStill);
    const [first] = still;
    if (first === undefined) return undefined;
    const actions = still.map(resume);
    const message = describe(first);
    return { reason: 'ReplicaStandsStill', message, actions, findings: still.map(tell) };
  },
};

export const standsStill = ({ facts }: AnsweringPod): boolean =>
  facts.role === 'slave' && (facts.unappliedForMs ?? 0) >= STANDS_STILL_MS;

const resume = ({ name, facts }: AnsweringPod): Action => ({
  kind: 'ResumePod',
  pod: name,
  expectRunId: facts.runId,
  reason: 'ReplicaStandsStill',
  message: `${name} is let go on: it read its primary's stream and applied nothing of it.`,
  disruptive: false,
});

const tell = (pod: AnsweringPod): Finding => {
  const lasts = (pod.facts.unappliedForMs ?? 0) >= NO_PAUSE_MS;
  const type = lasts ? 'DataAtRisk' : 'Degraded';
  return { type, status: 'True', reason: 'ReplicaStandsStill', message: describe(pod) };
};

const describe = ({ name, facts }: AnsweringPod): string => {
  const seconds = Math.round((facts.unappliedForMs ?? 0) / 1_000);
  const advice =
    seconds * 1_000 < NO_PAUSE_MS
      ? 'a pause of its writes is lifted.'
      : 'no pause is the cause. Look for a long script or command there (SLOWLOG, CLIENT LIST), or delete the pod.';
  return `${name} reads its primary's stream and has applied nothing of it for ${seconds} s; ${advice}`;
};
