/**
 * The next number of data pods. Up at once, except over a volume that is left from an earlier size: that it is no copy is
 * noted in the record before its pod exists (find-returning.ts), and a pod that is on its way out is gone first. Down one pod at a time, the highest ordinal first, and only while the primary is one
 * that stays, every pod that stays is linked to it, the primary asks for no more replicas than will be there, the pod
 * before is gone and the Sentinels are at rest. Without these gates one edit removes the primary, the only good copy, or
 * leaves a primary that takes no writes.
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { findUnnotedVolumes } from '../find-returning.ts';
import { followsAddressOf } from '../replication-role.ts';
import { judgeSentinels } from '../judge-sentinels.ts';
import { podName } from '#manifests';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';

export const stepSize = ({ view, primary }: ShapeContext): ShapeStep => {
  const { size } = view.spec;
  const goal = view.wanted.size;
  if (goal >= size) return stepUp(view, goal);
  if (view.spec.mode === 'Sentinel' && view.wanted.mode !== 'Sentinel') {
    return hold('LeavingSentinel', `The size stays ${size} until the Sentinels are gone.`);
  }
  const blocked = explainBlocked(view, primary, goal);
  if (blocked !== undefined) return hold(...blocked);
  const leaving = podName(view.names.redis, size - 1);
  return hold('RemovingReplica', `${leaving} is removed; ${size - 1} data pods stay.`, { size: size - 1 });
};

const stepUp = (view: ClusterView, goal: number): ShapeStep => {
  const leaving = goal > view.spec.size ? view.dataPods.find((pod) => pod.ordinal >= view.spec.size) : undefined;
  if (leaving !== undefined) return hold('WaitingForRemoval', `Waiting until ${leaving.name} is gone.`);
  const unnoted = findUnnotedVolumes(view);
  if (unnoted.length === 0) return { change: { size: goal } };
  const list = unnoted.map((ordinal) => podName(view.names.redis, ordinal)).join(', ');
  return hold('NotingOldVolumes', `${list} come back to volumes of an earlier size, which is noted first.`);
};

type Blocked = readonly [reason: string, message: string];

const explainBlocked = (view: ClusterView, primary: AnsweringPod | undefined, goal: number): Blocked | undefined => {
  if (primary === undefined) return ['WaitingForPrimary', 'No pod is removed while there is no confirmed primary.'];
  if (primary.name !== view.record?.primaryPod) {
    return ['WaitingForRecord', `${primary.name} is recorded as the primary before any pod is removed.`];
  }
  return (
    explainRemoval(view) ??
    explainStaying(view, primary, goal) ??
    explainMinReplicas(view, goal) ??
    explainSentinels(view, primary)
  );
};

const explainRemoval = ({ dataPods, spec }: ClusterView): Blocked | undefined => {
  const leaving = dataPods.find((pod) => pod.ordinal >= spec.size || pod.terminating);
  return leaving && ['WaitingForRemoval', `Waiting until ${leaving.name} is gone.`];
};

/** Pods that stay: the primary is one of them, and all others are linked to it. */
export const explainStaying = (view: ClusterView, primary: AnsweringPod, goal: number): Blocked | undefined => {
  if (primary.ordinal >= goal) {
    return [
      'PrimaryMustMove',
      `${primary.name} is primary and not among the ${goal} pods that stay; it hands over first.`,
    ];
  }
  const linked = view.dataPods.filter(
    (pod) => pod.ordinal < goal && answers(pod) && pod.facts.linkUp === true && followsAddressOf(pod, primary),
  );
  if (linked.length >= goal - 1) return undefined;
  return [
    'WaitingForReplicas',
    `${linked.length} of the ${goal - 1} replicas that stay are linked to ${primary.name}.`,
  ];
};

const explainMinReplicas = (view: ClusterView, goal: number): Blocked | undefined => {
  const most = Math.min(view.wanted.failover.minReplicasToWrite, goal - 1);
  const strict = view.dataPods
    .filter(answers)
    .find((pod) => pod.ordinal < goal && Number(pod.facts.config['min-replicas-to-write'] ?? 0) > most);
  if (strict === undefined || view.wanted.fenced) return undefined;
  return ['LoweringMinReplicas', `${strict.name} asks for more than ${most} replicas to take a write; lowered first.`];
};

const explainSentinels = (view: ClusterView, primary: AnsweringPod): Blocked | undefined => {
  if (view.spec.mode !== 'Sentinel') return undefined;
  const { failoverInProgress, agreedHost } = judgeSentinels(view);
  if (failoverInProgress) return ['FailoverInProgress', 'The Sentinels run a failover.'];
  return agreedHost === primary.ip
    ? undefined
    : ['SentinelsNotAgreed', `The Sentinels do not agree on ${primary.name}.`];
};
