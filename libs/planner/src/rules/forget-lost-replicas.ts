/**
 * A Sentinel never forgets a replica by itself, so each replaced pod leaves its old address behind. Such a ghost is not
 * harmless: the Sentinel that leads the next failover sends it REPLICAOF first, waits for an answer that never comes, and
 * moves no real replica until the failover-timeout is over (seen: 60 s without a writable primary, since
 * min-replicas-to-write counts linked replicas). RESET clears them. It makes the Sentinel forget its peers as well, for
 * about two seconds, so it is done in calm only: everything healthy, one Sentinel a pass, and the next one not before
 * this one sees everybody again (04, Sentinel).
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView, ReachableSentinel, SentinelPod } from '../cluster-view.ts';
import { followsAddressOf } from '../replication-role.ts';
import { judgeSentinels } from '../judge-sentinels.ts';
import { restartsAsked } from '../operations/restarts-asked.ts';
import { takesTurn } from '../rollout/explain-hold.ts';
import { findOutdated } from '../rollout/find-outdated.ts';
import type { Rule } from '../rule.ts';
import { standsStill } from './resume-replicas.ts';

export const forgetLostReplicas: Rule = {
  name: 'forget-lost-replicas',
  decide: ({ view, primary, planned }) => {
    if (view.spec.mode !== 'Sentinel' || primary?.ip === undefined || planned.length > 0) return undefined;
    if (!isCalm(view, primary) || isRollingReplicas(view, primary)) return undefined;
    const today = new Set(view.dataPods.map((pod) => pod.ip));
    const found = view.sentinelPods.find(
      ({ facts }) => ghostsOf(facts, today).length > 0 || lostPeersOf(facts, view) > 0,
    );
    if (found === undefined) return undefined;
    const reason = 'ForgettingLostReplicas';
    const ghosts = [...ghostsOf(found.facts, today), ...nameLostPeers(lostPeersOf(found.facts, view))].join(', ');
    const message = `Sentinel ${found.name} still knows ${ghosts}, which no pod has any more; it looks anew.`;
    const { masterName } = view.names;
    const action = {
      kind: 'ResetSentinel',
      sentinelPod: found.name,
      masterName,
      expectPrimaryHost: primary.ip,
    } as const;
    return { reason, message, actions: [{ ...action, reason, message, disruptive: false }] };
  },
};

/** Each replica that is still to be restarted leaves another ghost: they are cleared together, before the hand-over. */
const isRollingReplicas = (view: ClusterView, primary: AnsweringPod): boolean =>
  takesTurn(view.snapshot.resource.status?.rollout) &&
  findOutdated(view, restartsAsked(view)).data.some((pod) => pod.name !== primary.name);

const ghostsOf = (facts: SentinelPod['facts'], today: ReadonlySet<string | undefined>): readonly string[] =>
  facts.reachable ? (facts.replicaHosts ?? []).filter((host) => !today.has(host)) : [];

/** Sentinels that were removed, and count in the majority as long as they are remembered. */
const lostPeersOf = (facts: SentinelPod['facts'], { spec }: ClusterView): number =>
  facts.reachable && facts.monitors ? Math.max(0, facts.otherSentinels - (spec.sentinel.replicas - 1)) : 0;

const nameLostPeers = (count: number): readonly string[] => (count === 0 ? [] : [`${count} Sentinels`]);

/**
 * A primary that is being shut down still answers, for ten seconds and more while it waits for a replica: a Sentinel that
 * forgets everybody then has nobody to ask for them, and cannot fail over (seen: 38 s without a primary).
 */
const isCalm = (view: ClusterView, primary: AnsweringPod): boolean => {
  if (judgeSentinels(view).failoverInProgress || view.dataPods.length < view.spec.size) return false;
  if (primary.terminating || !primary.ready) return false;
  const replicas = view.dataPods.filter((pod) => pod.name !== primary.name);
  const linked = replicas.every(
    (pod) =>
      answers(pod) &&
      !pod.terminating &&
      pod.facts.linkUp === true &&
      !standsStill(pod) &&
      followsAddressOf(pod, primary),
  );
  const hosts = replicas.map((pod) => pod.ip ?? '');
  const sentinels = view.sentinelPods.filter((pod) => !pod.terminating);
  return (
    linked &&
    sentinels.length === view.spec.sentinel.replicas &&
    sentinels.every(({ facts }) => facts.reachable && seesAll(facts, { view, primary, hosts }))
  );
};

const seesAll = (
  facts: ReachableSentinel,
  { view, primary, hosts }: { view: ClusterView; primary: AnsweringPod; hosts: readonly string[] },
): boolean =>
  facts.monitors &&
  facts.quorumOk &&
  facts.primaryHost === primary.ip &&
  facts.otherSentinels >= view.spec.sentinel.replicas - 1 &&
  hosts.every((host) => facts.replicaHosts?.includes(host) === true);
