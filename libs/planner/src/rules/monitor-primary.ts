/**
 * Each Sentinel monitors the confirmed primary with the settings of the spec. One that monitors nothing is told at once.
 * A minority with a wrong address is told anew one a pass, since that makes a Sentinel forget its peers for a moment, and
 * never while any Sentinel runs a failover. When no majority watches the primary there is nothing to lose, and all are
 * told together: told one by one, the next hello of a stale one, whose epoch is higher, would turn them back. One whose
 * view is right is not touched (04, Sentinel).
 */
import { REDIS_PORT, ownValue } from '#domain';
import type { Action } from '#domain';
import type { AnsweringPod, ClusterView, ReachableSentinel, SentinelPod } from '../cluster-view.ts';
import { judgeSentinels, sentinelsAllow } from '../judge-sentinels.ts';
import { leavesSentinel } from '../shape/step-mode.ts';
import type { Rule } from '../rule.ts';

type AnsweringSentinel = SentinelPod & { readonly facts: ReachableSentinel };

export const monitorPrimary: Rule = {
  name: 'monitor-primary',
  decide: ({ view, primary, planned }) => {
    if (primary === undefined || !mayBeTold(view, primary)) return undefined;
    const sentinels = view.sentinelPods.filter(answersAsSentinel).filter((pod) => !pod.terminating);
    const silent = sentinels.filter((pod) => !pod.facts.monitors);
    const wrong = sentinels.filter((pod) => pod.facts.monitors && !monitors(pod, primary));
    const right = sentinels.filter((pod) => monitors(pod, primary));
    const lost = right.length * 2 <= view.spec.sentinel.replicas;
    const disrupted = planned.some((action) => action.disruptive);
    const next = lost ? wrong : wrong.slice(0, disrupted ? 0 : 1);
    const actions = [
      ...silent.map((pod) => monitor(view, pod, primary, 'SentinelMonitorsNothing')),
      ...next.map((pod) => monitor(view, pod, primary, lost ? 'SentinelsWatchNobody' : 'SentinelViewWrong')),
      ...right.flatMap((pod) => correctSettings(view, pod)),
    ];
    const [first] = actions;
    return first === undefined ? undefined : { reason: first.reason, message: first.message, actions };
  },
};

/** In this mode, with an address to tell, and while no failover runs nor a majority is at odds with it. */
const mayBeTold = (view: ClusterView, primary: AnsweringPod): boolean =>
  view.spec.mode === 'Sentinel' &&
  !leavesSentinel(view) &&
  primary.ip !== undefined &&
  !primary.terminating &&
  !judgeSentinels(view).failoverInProgress &&
  sentinelsAllow(view, primary);

const answersAsSentinel = (pod: SentinelPod): pod is AnsweringSentinel => pod.facts.reachable;

const monitors = ({ facts }: AnsweringSentinel, primary: AnsweringPod): boolean =>
  facts.monitors && facts.primaryHost === primary.ip && facts.primaryPort === REDIS_PORT;

/** What SENTINEL SET takes, by its own names. One replica at a time loads a new primary's copy. */
export const sentinelSettings = ({ spec }: Pick<ClusterView, 'spec'>): Readonly<Record<string, string>> => ({
  quorum: String(spec.sentinel.quorum),
  'down-after-milliseconds': String(spec.sentinel.downAfterMs),
  'failover-timeout': String(spec.sentinel.failoverTimeoutMs),
  'parallel-syncs': '1',
});

const monitor = (view: ClusterView, pod: AnsweringSentinel, primary: AnsweringPod, reason: string): Action => ({
  kind: 'MonitorPrimary',
  sentinelPod: pod.name,
  masterName: view.names.masterName,
  primaryHost: primary.ip ?? '',
  primaryPort: REDIS_PORT,
  quorum: view.spec.sentinel.quorum,
  settings: sentinelSettings(view),
  reason,
  message: `Sentinel ${pod.name} monitors ${primary.name}.`,
  disruptive: reason === 'SentinelViewWrong',
});

const correctSettings = (view: ClusterView, pod: AnsweringSentinel): Action[] => {
  const wanted = Object.entries(sentinelSettings(view));
  const differing = wanted.filter(([name, value]) => (ownValue(pod.facts.settings, name) ?? value) !== value);
  if (differing.length === 0) return [];
  return [
    {
      kind: 'SetSentinelSettings',
      sentinelPod: pod.name,
      masterName: view.names.masterName,
      settings: Object.fromEntries(differing),
      reason: 'SentinelSettingsDiffer',
      message: `Correcting ${differing.map(([name]) => name).join(', ')} of Sentinel ${pod.name}.`,
      disruptive: false,
    },
  ];
};
