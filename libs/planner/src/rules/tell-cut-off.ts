/**
 * A replica of an older version that still has its keys, stays without a link, and cannot load a whole copy of its primary.
 * As long as it has them it is a copy, so roll-out restarts it only as the user allows; an engine may keep them also when it
 * refuses the snapshot, and only a person can tell that from a broken network. Invariant: what is spared in order to
 * lose nothing is not left for ever without a word.
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { isLongNotReady } from '../is-long-not-ready.ts';
import { isCutOffByVersion } from '../lineage.ts';
import { followsAddressOf } from '../replication-role.ts';
import { askPerson } from '../rule.ts';
import type { Rule } from '../rule.ts';

export const tellCutOff: Rule = {
  name: 'tell-cut-off',
  decide: ({ view, primary, planned }) => {
    if (primary === undefined) return undefined;
    const goes = new Set(planned.flatMap((action) => (action.kind === 'EvictPod' ? [action.pod] : [])));
    const cutOff = view.dataPods
      .filter(answers)
      .filter((pod) => !pod.terminating && !goes.has(pod.name) && isKept(pod, primary) && isLong(view, pod));
    if (cutOff.length === 0) return undefined;
    return askPerson('ReplicaCutOff', cutOff.map((pod) => explain(pod, primary)).join(' '));
  },
};

const isKept = (pod: AnsweringPod, primary: AnsweringPod): boolean =>
  followsAddressOf(pod, primary) && isCutOffByVersion(pod, primary) && pod.facts.keys > 0 && !pod.facts.loading;

/** A server that was never linked since its start does not say for how long. */
const isLong = (view: ClusterView, { facts: { linkDownSinceMs } }: AnsweringPod): boolean =>
  linkDownSinceMs === undefined ? isLongNotReady(view) : linkDownSinceMs >= view.policy.stalledAfterMs;

const explain = (pod: AnsweringPod, primary: AnsweringPod): string =>
  `${pod.name} (${describe(pod)}) is not linked to ${primary.name} (${describe(primary)}), whose snapshot it cannot load. It ` +
  'still has keys, so it is not restarted against what holds the upgrade. If the network between the two is broken, mend ' +
  `that. Otherwise let the upgrade go on, or restart ${pod.name} by a RedisOperation; it comes back as a new copy.`;

const describe = ({ facts }: AnsweringPod): string => `${facts.engine} ${facts.version}`;
