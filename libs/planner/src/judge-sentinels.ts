/**
 * What the Sentinels say together, and what they can do by themselves. One Sentinel's word counts for nothing (04,
 * Never 6): everything here asks for more than half of all Sentinels there should be.
 */
import { answers } from './cluster-view.ts';
import type { ClusterView, DataPod } from './cluster-view.ts';
import { isHeldBack } from './replication-role.ts';

export interface SentinelVerdict {
  /** The address that more than half of all Sentinels name. */
  readonly agreedHost: string | undefined;
  /** Some Sentinel runs a failover. */
  readonly failoverInProgress: boolean;
  /**
   * A failover whose outcome is open. The Sentinel that leads one goes on naming the old address until every replica is
   * moved, and a replica that is gone for good (a pod replaced under a new address) holds that up for the whole
   * failover-timeout: seen 60 s. Once its choice says it is master, or the majority names another address, it is made.
   */
  readonly choiceOpen: boolean;
  /** More than half of all Sentinels answer. */
  readonly majorityAnswers: boolean;
  /** More than half of all Sentinels answer and monitor something: they can fail over by themselves. */
  readonly majorityMonitors: boolean;
  /** Replicas that the answering Sentinels know. */
  readonly knownHosts: ReadonlySet<string>;
}

export const judgeSentinels = ({ spec, sentinelPods }: ClusterView): SentinelVerdict => {
  const all = Math.max(spec.sentinel.replicas, sentinelPods.length);
  const views = sentinelPods.map((pod) => pod.facts).filter((facts) => facts.reachable);
  const monitoring = views.filter((facts) => facts.monitors);
  const votes = new Map<string, number>();
  for (const facts of monitoring) {
    const host = facts.promotedHost ?? facts.primaryHost ?? '';
    votes.set(host, (votes.get(host) ?? 0) + 1);
  }
  const agreed = [...votes].find(([host, count]) => host !== '' && count * 2 > all);
  const failovers = views.filter((facts) => facts.failoverInProgress);
  return {
    agreedHost: agreed?.[0],
    failoverInProgress: failovers.length > 0,
    choiceOpen: failovers.some(
      (facts) => facts.promotedHost === undefined && (agreed === undefined || facts.primaryHost === agreed[0]),
    ),
    majorityAnswers: views.length * 2 > all,
    majorityMonitors: monitoring.length * 2 > all,
    knownHosts: new Set(monitoring.flatMap((facts) => facts.replicaHosts ?? [])),
  };
};

/**
 * A failover runs, or a majority agrees and has somebody to work with today: the one it names, when only our view of that one may
 * be broken, or a replica it knows. The one it names is nobody's hope once it answers as a replica itself.
 */
export const sentinelsCanDecide = (view: ClusterView): boolean => {
  const { failoverInProgress, majorityMonitors, agreedHost, knownHosts } = judgeSentinels(view);
  if (failoverInProgress) return true;
  if (!majorityMonitors || agreedHost === undefined || haveGivenUp(view)) return false;
  return view.dataPods.some((pod) => {
    if (pod.ip === undefined) return false;
    return pod.ip === agreedHost
      ? !answers(pod)
      : knownHosts.has(pod.ip) && !(answers(pod) && (pod.facts.role === 'master' || isHeldBack(pod)));
  });
};

/** Sentinel takes no replica whose link was down for ten times downAfter; two failover timeouts more are its last try. */
const haveGivenUp = ({ spec, dataPods }: ClusterView): boolean => {
  const limitMs = 10 * spec.sentinel.downAfterMs + 2 * spec.sentinel.failoverTimeoutMs;
  const pods = dataPods.filter(answers);
  return pods.length > 0 && pods.every((pod) => (pod.facts.linkDownSinceMs ?? 0) > limitMs);
};

/**
 * No Sentinel majority can be at odds with this primary: one answers, has made its choice, and names it or nobody. When it
 * is out of sight it may have chosen another; a replica given to the old one then lifts its fence, and what it goes on
 * to acknowledge is lost when the two meet.
 */
export const sentinelsAllow = (view: ClusterView, primary: DataPod): boolean => {
  if (view.spec.mode !== 'Sentinel') return true;
  const verdict = judgeSentinels(view);
  if (!verdict.majorityAnswers || verdict.choiceOpen) return false;
  const named = view.dataPods.find((pod) => pod.ip !== undefined && pod.ip === verdict.agreedHost);
  if (named === undefined || named.name === primary.name) return true;
  // It names one that is no primary any more, and has nobody else to choose: it waits to be told.
  return answers(named) && named.facts.role === 'slave' && !sentinelsCanDecide(view);
};
