/**
 * Who is primary beyond doubt. Order of authority (04, Never 6): the recorded primary → the Sentinel majority → the one
 * that the recorded primary itself follows. Never the ordinal, the pod's phase, or one Sentinel's word. In Sentinel mode
 * the majority decides failovers, so a majority that names a pod which itself says "master" stands above the record,
 * which follows it. Nobody confirmed means: labels, record and endpoints stay as they are.
 */
import { REDIS_PORT, WAITING_PRIMARY_HOST } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';

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
 * No Sentinel majority can be at odds with this primary: one answers, has made its choice, and names it or nobody. When it
 * is out of sight it may have chosen another; a replica given to the old one then lifts its fence, and what it goes on
 * to acknowledge is lost when the two meet.
 */
export const sentinelsAllow = (view: ClusterView, primary: DataPod): boolean => {
  if (view.spec.mode !== 'Sentinel') return true;
  const verdict = judgeSentinels(view);
  if (!verdict.majorityAnswers || verdict.choiceOpen) return false;
  const named = view.dataPods.find((pod) => pod.ip !== undefined && pod.ip === verdict.agreedHost);
  return named === undefined || named.name === primary.name;
};

export const isMaster = (pod: DataPod): pod is AnsweringPod => answers(pod) && pod.facts.role === 'master';

export const followsAddressOf = (follower: DataPod, leader: DataPod): boolean =>
  answers(follower) &&
  follower.facts.role === 'slave' &&
  leader.ip !== undefined &&
  follower.facts.masterHost === leader.ip &&
  follower.facts.masterPort === REDIS_PORT;

/** A replica that the guard or an earlier pass told to wait. */
export const isWaiting = (pod: AnsweringPod): boolean =>
  pod.facts.role === 'slave' && pod.facts.masterHost === WAITING_PRIMARY_HOST;

/** A replica that is linked to nobody and receives nothing: waiting, or left behind by a primary that is gone. */
export const isUnlinked = (pod: AnsweringPod): boolean =>
  pod.facts.role === 'slave' && pod.facts.linkUp !== true && !pod.facts.syncInProgress;

export const findPrimary = (view: ClusterView): AnsweringPod | undefined => {
  const recorded = view.dataPods.find((pod) => pod.name === view.record?.primaryPod);
  if (view.spec.mode === 'Sentinel') return findSentinelPrimary(view, recorded);
  if (recorded !== undefined && isMaster(recorded)) return recorded;
  return findFollowedPrimary(view, recorded);
};

const findSentinelPrimary = (view: ClusterView, recorded: DataPod | undefined): AnsweringPod | undefined => {
  const { agreedHost, choiceOpen } = judgeSentinels(view);
  if (choiceOpen) return undefined;
  const agreed = view.dataPods.find((pod) => pod.ip !== undefined && pod.ip === agreedHost);
  if (agreed !== undefined && isMaster(agreed)) return agreed;
  // The majority names a pod that does not answer: it may well be the primary, and only our view of it is broken.
  if (agreed !== undefined && !answers(agreed)) return undefined;
  if (recorded !== undefined && isMaster(recorded) && noOtherMaster(view, recorded)) return recorded;
  return agreed === undefined ? findFollowedPrimary(view, recorded) : undefined;
};

/**
 * The one master there is, when every other pod that answers follows it or waits. Without a record that is enough only
 * when it has somebody or something to show for it: an empty, unfollowed master is nobody's primary yet.
 */
const findFollowedPrimary = (view: ClusterView, recorded: DataPod | undefined): AnsweringPod | undefined => {
  const [master, ...others] = view.dataPods.filter(isMaster);
  if (master === undefined || others.length > 0) return undefined;
  if (view.record !== undefined) {
    return recorded !== undefined && followsAddressOf(recorded, master) ? master : undefined;
  }
  return view.spec.mode === 'Standalone' || isVouchedFor(view, master) ? master : undefined;
};

const isVouchedFor = (view: ClusterView, master: AnsweringPod): boolean => {
  const rest = view.dataPods.filter((pod) => pod.name !== master.name);
  const explained = rest.every((pod) => answers(pod) && (followsAddressOf(pod, master) || isWaiting(pod)));
  return explained && (master.facts.keys > 0 || master.facts.connectedReplicas > 0);
};

const noOtherMaster = (view: ClusterView, one: DataPod): boolean =>
  !view.dataPods.some((pod) => pod.name !== one.name && isMaster(pod));
