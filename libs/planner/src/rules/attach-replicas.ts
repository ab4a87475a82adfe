/**
 * Every other data pod follows the confirmed primary. A pod that serves nobody (waiting, or linked to nobody) is moved
 * at once; one that serves, one a pass, and while no other data pod is away. Never 1 of 04: an empty primary is not let
 * loose on a pod that holds data, unless that data is an earlier state of the primary's own history; without persistence
 * a pod of another history is not let go either, since it holds what no volume holds. A second master is touched only
 * when it is empty and unfollowed; one that holds data keeps it, but its replicas are taken from it, one a pass: without
 * a linked replica it takes no writes (min-replicas-to-write), so the two cannot drift further apart.
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { ANOTHER_POD_AWAY, explainAway } from '../explain-away.ts';
import { followsAddressOf, isMaster, isUnlinked } from '../replication-role.ts';
import { sentinelsAllow } from '../judge-sentinels.ts';
import { isPastOf, shareHistory } from '../lineage.ts';
import { replicateFrom } from '../make-action.ts';
import type { Action } from '#domain';
import { waitFor } from '../rule.ts';
import type { Finding, Rule } from '../rule.ts';

export const attachReplicas: Rule = {
  name: 'attach-replicas',
  decide: ({ view, primary, planned }) => {
    if (primary === undefined || !takesReplicas(view, primary)) return undefined;
    const strays = view.dataPods.filter(answers).filter((pod) => isStray(pod, primary));
    const endangered = strays.filter((pod) => wouldErase(view, primary, pod));
    const movable = strays.filter((pod) => !endangered.includes(pod));
    const { actions, waits } = chooseMoves(view, movable, primary, planned);
    const findings = [...explainEndangered(view, primary, endangered), ...waits];
    const cause = findings[0] ?? actions[0];
    if (cause === undefined) return undefined;
    return { reason: cause.reason, message: cause.message, actions, findings };
  },
};

const takesReplicas = (view: ClusterView, primary: AnsweringPod): boolean =>
  primary.ip !== undefined && !primary.facts.loading && !primary.terminating && sentinelsAllow(view, primary);

const isStray = (pod: AnsweringPod, primary: AnsweringPod): boolean =>
  pod.name !== primary.name &&
  !pod.terminating &&
  !pod.facts.loading &&
  !pod.facts.syncInProgress &&
  !followsAddressOf(pod, primary) &&
  (!isMaster(pod) || (pod.facts.keys === 0 && pod.facts.connectedReplicas === 0));

/** Linked to a second master that holds data, and so holds nothing that is not also there. */
const followsRival = (view: ClusterView, pod: AnsweringPod, primary: AnsweringPod): boolean =>
  pod.facts.linkUp === true &&
  view.dataPods.some(
    (rival) => rival.name !== primary.name && isMaster(rival) && rival.facts.keys > 0 && followsAddressOf(pod, rival),
  );

const wouldErase = (view: ClusterView, primary: AnsweringPod, pod: AnsweringPod): boolean => {
  if (pod.facts.keys === 0 || isPastOf(pod.facts, primary.facts)) return false;
  if (primary.facts.keys === 0) return true;
  const unrelated = !view.spec.persistenceEnabled && !shareHistory(pod.facts, primary.facts);
  return unrelated && !followsRival(view, pod, primary);
};

/**
 * Linked to a pod of ours that does not answer us: it runs, and may have been chosen in this primary's place. The replica is
 * what it takes writes by, so it stays until that pod answers, or until its link is down.
 */
const followsSilent = ({ dataPods }: ClusterView, pod: AnsweringPod): boolean =>
  pod.facts.linkUp === true && dataPods.some((leader) => !answers(leader) && followsAddressOf(pod, leader));

const tellSilent = (pods: readonly AnsweringPod[]): readonly Finding[] => {
  const list = pods.map(({ name }) => name).join(', ');
  return waitFor('LeaderNotReachable', `${list} follow a pod that runs and does not answer this agent.`).findings ?? [];
};

interface Moves {
  readonly actions: readonly Action[];
  readonly waits: readonly Finding[];
}

/**
 * All that serve nobody, and at most one that does, if nothing else disrupts in this pass and nobody is away. A rival's
 * replica is taken from it all the same: as long as it has one it takes writes, and those are lost.
 */
const chooseMoves = (
  view: ClusterView,
  strays: readonly AnsweringPod[],
  primary: AnsweringPod,
  planned: readonly Action[],
): Moves => {
  const idle = strays.filter(isUnlinked).map((pod) => replicateFrom(pod, primary, false, 'AttachingReplica'));
  const linked = strays.filter((pod) => !isUnlinked(pod));
  const serving = linked.filter((pod) => !followsSilent(view, pod));
  if (linked.length > 0 && serving.length === 0) return { actions: idle, waits: tellSilent(linked) };
  const first = planned.some((action) => action.disruptive)
    ? undefined
    : (serving.find((pod) => followsRival(view, pod, primary)) ?? serving[0]);
  if (first === undefined) return { actions: idle, waits: [] };
  const away = followsRival(view, first, primary) ? undefined : explainAway(view, [primary.name, first.name]);
  if (away !== undefined) return { actions: idle, waits: waitFor(ANOTHER_POD_AWAY, away).findings ?? [] };
  return { actions: [...idle, replicateFrom(first, primary, true, 'MovingReplica')], waits: [] };
};

const explainEndangered = (
  view: ClusterView,
  primary: AnsweringPod,
  endangered: readonly AnsweringPod[],
): readonly Finding[] => {
  if (endangered.length === 0) return [];
  const list = endangered.map((pod) => `${pod.name} (${pod.facts.keys} keys)`).join(', ');
  const reason = 'AttachingWouldErase';
  const message =
    `${primary.name} is primary of ${view.key.name} with ${primary.facts.keys} keys, while ${list} hold data of another ` +
    'history; attaching them would erase it. Save what is wanted, then delete these pods, and their volumes if they have some.';
  return [
    { type: 'DataAtRisk', status: 'True', reason, message },
    { type: 'ActionRequired', status: 'True', reason, message },
  ];
};
