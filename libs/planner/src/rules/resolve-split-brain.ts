/**
 * Ends a split brain without losing what the loser holds of its own: it is fenced first (label off, writes paused,
 * clients disconnected), its data is set aside as a file on its own volume, and only when the status tells of that file,
 * at the very offset that it still has, it is made a replica, which erases it. Where its history shows that it has nothing
 * of its own it follows at once. Where nobody can tell which one is right, nobody is fenced and a person is asked.
 */
import { ANNOTATION, LABEL } from '#domain';
import type { Action } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { findRivals, hasNothingOfItsOwn, judgeTruth } from '../judge-split-brain.ts';
import { replicateFrom, writeRecord } from '../make-action.ts';
import { presentField } from '../present-field.ts';
import type { Finding, Rule, RuleOutcome } from '../rule.ts';

/** Renewed by each pass, so it only has to outlast an agent that dies and comes back. */
const PAUSE_MS = 60_000;
const REASON = 'TwoPrimaries';

export const resolveSplitBrain: Rule = {
  name: 'resolve-split-brain',
  decide: ({ view, primary }) => {
    const rivals = findRivals(view);
    if (rivals.length < 2 || view.spec.mode === 'Standalone') return undefined;
    const list = rivals.map((pod) => `${pod.name} (${pod.facts.keys} keys)`).join(' and ');
    const truth = judgeTruth(view, primary, rivals);
    switch (truth.kind) {
      case 'left-to-sentinel':
        return report(`${list} are both primaries; the Sentinels have not said yet which of them is right.`, []);
      case 'undecided':
        return report(explainUndecided(view, list), [], true);
      case 'known': {
        const losers = rivals.filter((pod) => pod.name !== truth.pod.name);
        const story = `${list} are both primaries. ${truth.pod.name} is right: ${truth.because}.`;
        return resolve(view, { truth: truth.pod, losers, story, confirmed: primary !== undefined });
      }
    }
  },
};

interface Case {
  readonly truth: AnsweringPod;
  readonly losers: readonly AnsweringPod[];
  readonly story: string;
  /** Then record-primary writes the record. */
  readonly confirmed: boolean;
}

const report = (message: string, actions: readonly Action[], askPerson = false): RuleOutcome => {
  const finding: Finding = { type: 'DataAtRisk', status: 'True', reason: REASON, message };
  const asked: Finding[] = askPerson ? [{ ...finding, type: 'ActionRequired' }] : [];
  return { reason: REASON, message, actions, findings: [finding, ...asked] };
};

/** All losers are fenced; one of them is dealt with a pass. */
const resolve = (view: ClusterView, { truth, losers, story, confirmed }: Case): RuleOutcome => {
  const record = [...(confirmed ? [] : [recordTruth(view, truth)]), ...resume(view, truth)];
  const unlabelled = losers.flatMap((pod) => takeLabel(pod));
  const [loser] = losers;
  if (loser === undefined) return report(story, record);
  if (mayFollow(view, loser, truth)) {
    const follow = {
      ...replicateFrom(loser, truth, true, 'DemotingRival'),
      message: `${loser.name} follows ${truth.name}.`,
    };
    return report(`${story} ${loser.name} is made its replica.`, [...record, ...unlabelled, follow]);
  }
  const fenced = losers.map((pod) => fence(pod));
  if (cannotSetAside(loser)) return report(explainProtected(story, loser), [...record, ...unlabelled, ...fenced], true);
  const file = fileOf(loser);
  const message = `${loser.name} holds writes of its own; it is kept from clients, and its data is set aside as ${file} on its volume.`;
  const keep: Action = {
    kind: 'SetAside',
    pod: loser.name,
    expectRunId: loser.facts.runId,
    file,
    reason: 'SettingAside',
    message,
    disruptive: false,
  };
  return report(`${story} ${message}`, [...record, ...unlabelled, ...fenced, keep]);
};

/** It may have been fenced itself, by a pass that saw another picture; without this it would stand still for a minute. */
const resume = ({ spec }: ClusterView, { name, facts }: AnsweringPod): readonly Action[] => {
  if (spec.fenced) return [];
  const message = `${name} takes writes.`;
  const action = { kind: 'ResumePod', pod: name, expectRunId: facts.runId, reason: 'TruthServes', message } as const;
  return [{ ...action, disruptive: false }];
};

const recordTruth = (view: ClusterView, { name, node, ip }: AnsweringPod): Action => {
  const place = { ...presentField('primaryNode', node), ...presentField('primaryHost', ip) };
  const raised = (view.record?.primaryTerm ?? 0) + (view.record?.primaryPod === name ? 0 : 1);
  const change = { primaryTerm: raised, primaryPod: name, ...place, handover: undefined };
  return writeRecord(view, change, REASON, `${name} is the primary of this data set.`);
};

/** Nothing of its own, or all of it set aside at the offset that it has now, or a person gave it up. */
const mayFollow = ({ snapshot: { resource } }: ClusterView, loser: AnsweringPod, truth: AnsweringPod): boolean =>
  hasNothingOfItsOwn(loser.facts, truth.facts) ||
  resource.metadata.annotations?.[ANNOTATION.discardDataOf] === loser.name ||
  (resource.status?.setAside ?? []).some(({ pod, file }) => pod === loser.name && file === fileOf(loser));

const fileOf = ({ name, facts }: AnsweringPod): string =>
  `set-aside-${name}-${facts.replicationId.slice(0, 8)}-${facts.offsetBytes}.rdb`;

const takeLabel = (pod: AnsweringPod): readonly Action[] => {
  if (pod.labels[LABEL.role] !== 'primary') return [];
  const message = `${pod.name} is no primary of this data set any more.`;
  return [
    {
      kind: 'LabelRole',
      pod: pod.name,
      podUid: pod.uid,
      role: 'replica',
      reason: 'RoleMoved',
      message,
      disruptive: false,
    },
  ];
};

const fence = (pod: AnsweringPod): Action => ({
  kind: 'FencePod',
  pod: pod.name,
  expectRunId: pod.facts.runId,
  pauseMs: PAUSE_MS,
  reason: 'FencingRival',
  message: `${pod.name} takes no writes any more, and its clients are disconnected.`,
  disruptive: false,
});

/** Started by an entrypoint of release 0.1.0, which did not allow the name of the file to be changed. */
const cannotSetAside = ({ facts }: AnsweringPod): boolean => facts.config['enable-protected-configs'] === 'no';

const explainProtected = (story: string, { name }: AnsweringPod): string =>
  `${story} ${name} holds writes of its own and was started by a release that cannot set them aside. It is kept from ` +
  `clients. Save what is wanted of it, then annotate this RedisCluster with ${ANNOTATION.discardDataOf}=${name}, and it ` +
  'becomes a replica.';

const explainUndecided = ({ key }: ClusterView, list: string): string =>
  `${list} are both primaries and may hold different writes; neither the record, nor the Sentinels, nor their histories ` +
  `tell which one is right. Neither is touched. Decide by: kubectl annotate arc -n ${key.namespace} ${key.name} ` +
  `${ANNOTATION.truePrimary}=POD; the other is set aside and follows.`;
