/**
 * Nobody is primary, and there was one. In Sentinel mode this is the Sentinels' business as long as they can: a majority
 * that answers and knows an address of today. Otherwise the successor is chosen from what every data pod answers, and
 * promoted only when the old primary is proven not to run (proveDeath), no replica says that its link is up, and the
 * record has been raised first. A deposed master that came back is no primary (find-deposed.ts); once there is one again,
 * resolve-split-brain sets aside what it holds of its own. Whatever is missing becomes a sentence that says exactly what a person has to bring.
 */
import type { Action, DataSetRecord } from '#domain';
import { podName } from '#manifests';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from '../cluster-view.ts';
import { chooseSuccessor } from '../choose-successor.ts';
import { explainStuckPod, lacksRoom, restartsSoon } from '../explain-stuck-pod.ts';
import { findDeposed, isOfDeposed } from '../find-deposed.ts';
import { followsAddressOf, isMaster, isUnlinked, isWaiting } from '../replication-role.ts';
import { judgeSentinels, sentinelsCanDecide } from '../judge-sentinels.ts';
import { explainOldData, listOldData } from '../explain-old-data.ts';
import { isReturning } from '../find-returning.ts';
import { isPastOf } from '../lineage.ts';
import { isHandoverOpen } from '../note-handover.ts';
import { isHearsay } from '../question-hearsay.ts';
import { promotePod, replicateFrom, writeRecord } from '../make-action.ts';
import { planSentinelFailover } from '../plan-sentinel-failover.ts';
import { presentField } from '../present-field.ts';
import { proveDeath } from '../prove-death.ts';
import type { DeathProof } from '../prove-death.ts';
import { askPerson, waitFor } from '../rule.ts';
import type { Rule, RuleOutcome } from '../rule.ts';
import { isUnfinishedCreation } from './create-data-set.ts';

export const recoverPrimary: Rule = {
  name: 'recover-primary',
  decide: ({ view, primary }) => {
    if (primary !== undefined || !mayWait(view)) return undefined;
    const holdsData = view.dataPods.some((pod) => answers(pod) && pod.facts.keys > 0);
    if ((view.record === undefined || isUnfinishedCreation(view)) && !holdsData) return undefined;
    return explainHandsOff(view) ?? recover(view);
  },
};

/**
 * A Standalone starts as primary by itself. It waits all the same when its container started with the settings of the mode
 * before, which a pod's volume still shows for a while; then nobody else would ever promote it.
 */
const mayWait = ({ spec, dataPods }: ClusterView): boolean =>
  spec.mode !== 'Standalone' || dataPods.some((pod) => answers(pod) && isWaiting(pod));

/** Reasons to leave it alone, whatever else is true. */
const explainHandsOff = (view: ClusterView): RuleOutcome | undefined => {
  if (view.spec.mode === 'Sentinel' && sentinelsCanDecide(view)) {
    const failover = planSentinelFailover(view);
    if (failover !== undefined) return failover;
    return waitFor('LeftToSentinel', 'The Sentinels choose the next primary.');
  }
  const deposed = findDeposed(view);
  const masters = view.dataPods.filter((pod) => isMaster(pod) && !deposed.includes(pod)).map((pod) => pod.name);
  if (masters.length > 0) {
    if (view.spec.mode === 'Sentinel' && !judgeSentinels(view).majorityAnswers) {
      return waitFor('SentinelsNotReachable', 'Waiting for a majority of the Sentinels to say who is primary.');
    }
    const message =
      `${masters.join(', ')} run as primary, but the recorded one is ${view.record?.primaryPod ?? 'nobody'}. ` +
      'Clients are not moved. Make the recorded pod a replica of the right one, or delete the wrong pod.';
    return askPerson('UnrecordedPrimary', message);
  }
  const linked = view.dataPods
    .filter((pod) => answers(pod) && !isUnlinked(pod) && !isChained(view, pod) && !isOfDeposed(pod, deposed))
    .map((pod) => pod.name);
  if (linked.length === 0) return undefined;
  const message = `${linked.join(', ')} are linked to a primary that this agent cannot reach; it is alive.`;
  return waitFor('PrimaryNotReachable', message);
};

/**
 * Linked to a pod of ours that is a replica itself: that says nothing about a primary, and it cannot be further along than
 * that one. Behind one that waits nobody can be linked: then what it says is a moment old.
 */
const isChained = (view: ClusterView, pod: AnsweringPod): boolean =>
  view.dataPods.some(
    (leader) => answers(leader) && leader.facts.role === 'slave' && !isWaiting(leader) && followsAddressOf(pod, leader),
  );

const recover = (view: ClusterView): RuleOutcome => {
  const silent = findSilent(view);
  const deposed = findDeposed(view);
  const ready = view.dataPods
    .filter(answers)
    .filter((pod) => !pod.terminating && !pod.facts.loading && !isChained(view, pod) && !isOfDeposed(pod, deposed))
    .filter((pod) => !isReturning(view, pod) || pod.facts.keys === 0);
  if (silent.length > 0 && !(nobodyElseChose(view) && recordedHoldsAll(view, ready)))
    return recoverWithout(view, silent, ready);
  const successor = chooseSuccessor(view, ready);
  switch (successor.kind) {
    case 'chosen':
      return promote(view, successor.pod, `${successor.pod.name} is promoted: ${successor.because}.`);
    case 'ambiguous':
      return askWhich(view, successor.pods);
    case 'all-empty':
      return explainOldData(view) ?? startEmpty(view, ready);
  }
};

const askWhich = (view: ClusterView, pods: readonly AnsweringPod[]): RuleOutcome => {
  const list = pods.map((pod) => `${pod.name} (${pod.facts.keys} keys)`).join(', ');
  const { handover, primaryPod = 'the primary' } = view.record ?? {};
  if (handover !== undefined && isHandoverOpen(view)) {
    const message =
      `${primaryPod} was handing over to ${handover.to} when the agent ended, and both were restarted before anybody saw ` +
      `whether it did: ${list}. Run REPLICAOF NO ONE on the one of the two that has the newest writes.`;
    return askPerson('HandoverInDoubt', message);
  }
  if (isHearsay(view) && pods.some((pod) => pod.name === primaryPod)) {
    const message =
      `The record is lost. The status names ${primaryPod}, but others may have followed another primary since: ${list}. ` +
      'Run REPLICAOF NO ONE on the one that has the newest writes.';
    return askPerson('RecordInDoubt', message);
  }
  const message = `${list} hold data of different histories, and none is the recorded primary. Decide which is right, and run REPLICAOF NO ONE there.`;
  return askPerson('AmbiguousHistory', message);
};

interface SilentPod {
  readonly name: string;
  readonly why: string;
}

/** Data pods of the accepted size that do not answer, with what is known of them. */
const findSilent = (view: ClusterView): readonly SilentPod[] =>
  Array.from({ length: view.spec.size }, (_, ordinal) => podName(view.names.redis, ordinal)).flatMap((name) => {
    const pod = view.dataPods.find((candidate) => candidate.name === name);
    if (pod === undefined) return [{ name, why: 'does not exist' }];
    if (pod.terminating) return [{ name, why: 'is being deleted' }];
    if (!answers(pod)) return [{ name, why: explainStuckPod(pod, view.snapshot) ?? explainSilentPod(pod) }];
    return pod.facts.loading ? [{ name, why: 'is loading its data' }] : [];
  });

const explainSilentPod = ({ nodeReady, node, facts }: DataPod): string => {
  if (!nodeReady) return `is on node ${node ?? 'unknown'}, which is not Ready`;
  const refuses = !facts.reachable && facts.reason === 'AUTH';
  return refuses ? 'runs, and refuses the passwords of the credentials Secret' : 'does not answer';
};

/**
 * In Sentinel mode a silent data pod may have been made primary by a majority that is out of sight. Only when a majority
 * answers, and the hands are off it no longer, is there nobody who could have chosen.
 */
const nobodyElseChose = (view: ClusterView): boolean =>
  view.spec.mode !== 'Sentinel' || judgeSentinels(view).majorityAnswers;

/**
 * The recorded primary waits with what it had on its volume: no replica can hold more, so none has to answer. One that was
 * handing over may have done so; one that only the status names may have been followed by a silent one.
 */
const recordedHoldsAll = (view: ClusterView, ready: readonly AnsweringPod[]): boolean =>
  view.spec.persistenceEnabled &&
  !isHandoverOpen(view) &&
  !isHearsay(view) &&
  ready.some((pod) => pod.name === view.record?.primaryPod && pod.facts.keys > 0 && isUnlinked(pod));

/**
 * Some pods do not answer. With the primary proven dead the furthest of the others goes on, when nobody else is silent;
 * or when it was linked to the primary until the end, so that no silent one can hold more than it by design; or when the
 * silent ones do not come back by themselves and the user takes that loss (dataLossPolicy).
 */
const recoverWithout = (
  view: ClusterView,
  silent: readonly SilentPod[],
  ready: readonly AnsweringPod[],
): RuleOutcome => {
  const death = proveDeath(view);
  const others = silent.filter(({ name }) => name !== view.record?.primaryPod);
  const successor = chooseSuccessor(view, ready);
  if (death.proven && nobodyElseChose(view) && successor.kind === 'chosen') {
    const { pod, because } = successor;
    const accepted = view.spec.failover.dataLossPolicy === 'Allow' && !canReturnAlone(view, others);
    if (others.length === 0 || wasLinkedUntil(view, pod, death.endedAtMs) || accepted) {
      return promote(view, pod, `${pod.name} is promoted: ${death.because}, and ${because}.`, { death });
    }
  }
  return tellMissing(view, silent, { death, hasCandidate: successor.kind !== 'all-empty' });
};

const tellMissing = (
  view: ClusterView,
  silent: readonly SilentPod[],
  { death, hasCandidate }: { readonly death: DeathProof; readonly hasCandidate: boolean },
): RuleOutcome => {
  const list = silent.map(({ name, why }) => `${name} ${why}`).join('; ');
  const missing = death.proven ? '' : ` ${death.missing}`;
  const old = listOldData(view);
  const message =
    `There is no primary, and none is promoted until these pods answer: ${list}.${missing} ${old}`.trimEnd();
  if (canReturnAlone(view, silent)) return waitFor('WaitingForPods', message);
  return askPerson(old !== '' && !hasCandidate ? 'OnlyOldData' : 'PodsMissing', message);
};

/** INFO counts whole seconds. */
const LINK_CLOCK_MS = 2_000;

/** By hearsay nobody knows whether it was the primary that it was linked to. */
const wasLinkedUntil = (view: ClusterView, { facts }: AnsweringPod, endedAtMs: number | undefined): boolean =>
  endedAtMs !== undefined &&
  facts.linkDownSinceMs !== undefined &&
  !isHearsay(view) &&
  view.snapshot.observedAtMs - facts.linkDownSinceMs >= endedAtMs - LINK_CLOCK_MS;

/** Pods that Kubernetes is starting come back by themselves; those on a lost node, or that cannot start, do not. */
const canReturnAlone = (view: ClusterView, silent: readonly { name: string }[]): boolean =>
  silent.every(({ name }) => {
    const pod = view.dataPods.find((candidate) => candidate.name === name);
    if (pod === undefined) return true;
    const stands = pod.waitingReason === undefined && !lacksRoom(pod);
    return pod.nodeReady && (stands || restartsSoon(pod));
  });

const startEmpty = (view: ClusterView, ready: readonly AnsweringPod[]): RuleOutcome => {
  const chosen = ready[0];
  const declared = !view.spec.persistenceEnabled || view.spec.failover.dataLossPolicy === 'Allow';
  if (!declared || chosen === undefined) {
    const message =
      'Every data pod answers and is empty, although the data set is persistent and had a primary. Look for ' +
      '/data/left-behind.* on the volumes (what pods left at an earlier size), restore a volume, ' +
      'or accept the loss: set spec.failover.dataLossPolicy to Allow.';
    return askPerson('AllPodsEmpty', message);
  }
  const how = view.spec.persistenceEnabled ? 'came back empty' : 'restarted without persistence';
  const message = `Every data pod ${how}; what they held is lost, as the spec declares. ${chosen.name} becomes primary.`;
  return promote(view, chosen, message, { reason: 'DataLostAsDeclared' });
};

interface Why {
  readonly reason?: string;
  readonly death?: Extract<DeathProof, { proven: true }>;
}

/** Going on with the recorded primary is no failover, so Manual does not hold it up. */
const promote = (view: ClusterView, pod: AnsweringPod, message: string, why: Why = {}): RuleOutcome => {
  const recorded = pod.name === view.record?.primaryPod;
  if (view.spec.failover.mode === 'Manual' && !recorded) {
    return askPerson(
      'FailoverIsManual',
      `There is no primary. ${pod.name} could take over, but spec.failover.mode is Manual: set it to Automatic, or run ` +
        `REPLICAOF NO ONE on ${pod.name}.`,
    );
  }
  const { reason = 'RecoveringPrimary', death } = why;
  const empty = pod.facts.keys === 0;
  const safely = {
    onlyIfEmpty: empty,
    onlyIfWaiting: isWaiting(pod),
    disruptive: true,
    ...presentField('onlyIfRefused', death?.refusingHost),
  };
  const raise = recorded && !empty ? [] : [writeRecord(view, raisedTo(view, pod), reason, message)];
  return {
    reason,
    message,
    findings: [{ type: 'Reconciling', status: 'True', reason, message }],
    actions: [...raise, promotePod(pod, safely, reason, message), ...attachFollowers(view, pod)],
  };
};

/**
 * The others are sent to it in the same pass: until one is linked it takes no writes, and the pass after this one may have
 * to wait for an API server. Only those that lose nothing by it; attach-replicas judges the rest.
 */
const attachFollowers = (view: ClusterView, primary: AnsweringPod): readonly Action[] =>
  primary.ip === undefined
    ? []
    : view.dataPods
        .filter(answers)
        .filter((pod) => pod.name !== primary.name && !pod.terminating && !pod.facts.loading && isUnlinked(pod))
        .filter((pod) => pod.facts.keys === 0 || (primary.facts.keys > 0 && isPastOf(pod.facts, primary.facts)))
        .map((pod) => replicateFrom(pod, primary, false, 'AttachingReplica'));

const raisedTo = ({ record }: ClusterView, { name, node, ip }: AnsweringPod): Partial<DataSetRecord> => ({
  primaryTerm: (record?.primaryTerm ?? 0) + 1,
  primaryPod: name,
  ...presentField('primaryNode', node),
  ...presentField('primaryHost', ip),
  // What was begun with the one before is over: it would be told as in doubt at the next outage.
  handover: undefined,
});
