/**
 * Tells Sentinel of a death that is proven, instead of letting it wait out its down-after (5.4 s → 0.5 s without a
 * primary). Only on the two proofs that hold beside Sentinel (04 a, b), and only when nothing about the choice is open: a
 * majority names the dead address, has quorum and runs no failover; no replica that answers says its link is up; and all
 * that Sentinel could choose are of one history. In every other case it is left
 * to Sentinel, which is slower and sees more.
 */
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, ReachableSentinel, SentinelPod } from './cluster-view.ts';
import { isReturning } from './find-returning.ts';
import { isHeldBack, isMaster } from './replication-role.ts';
import { judgeSentinels } from './judge-sentinels.ts';
import { proveExit, provePodGone } from './prove-death.ts';
import type { DeathProof } from './prove-death.ts';
import type { RuleOutcome } from './rule.ts';

type SentinelThatAnswers = SentinelPod & { readonly facts: ReachableSentinel };
interface Dead {
  readonly name: string;
  readonly host: string;
  readonly proof: Extract<DeathProof, { proven: true }>;
}

/** undefined: left to Sentinel. */
export const planSentinelFailover = (view: ClusterView): RuleOutcome | undefined => {
  const verdict = judgeSentinels(view);
  const { agreedHost, failoverInProgress, knownHosts } = verdict;
  if (agreedHost === undefined || failoverInProgress || view.spec.failover.mode === 'Manual') return undefined;
  if (view.dataPods.some(isMaster)) return undefined;
  const sentinel = chooseSentinel(view, agreedHost);
  const dead = findDead(view, agreedHost);
  if (sentinel === undefined || dead === undefined) return undefined;
  const replicas = view.dataPods.filter(answers).filter((pod) => pod.name !== dead.name && !pod.terminating);
  if (!replicas.every((pod) => pod.facts.linkUp !== true && !pod.facts.syncInProgress)) return undefined;
  const eligible = replicas.filter((pod) => knownHosts.has(pod.ip ?? '') && pod.facts.masterHost === dead.host);
  if (eligible.length === 0 || !areCopies(view, eligible)) return undefined;
  return failOver(view, { sentinel, dead, eligible });
};

/** One that may be believed to carry it through: it names the address, and has its quorum. */
const chooseSentinel = (view: ClusterView, host: string): SentinelThatAnswers | undefined =>
  view.sentinelPods
    .filter((pod): pod is SentinelThatAnswers => pod.facts.reachable)
    .find((pod) => !pod.terminating && pod.facts.primaryHost === host && pod.facts.quorumOk);

const findDead = (view: ClusterView, host: string): Dead | undefined => {
  const pod = view.dataPods.find((candidate) => candidate.ip === host);
  const exit = proveExit(view, pod);
  if (pod !== undefined) return exit === undefined ? undefined : { name: pod.name, host, proof: exit };
  const name = view.record?.primaryPod;
  if (name === undefined || view.record?.primaryHost !== host) return undefined;
  const recorded = view.dataPods.find((candidate) => candidate.name === name);
  const proof = provePodGone(view, recorded, name);
  return proof.proven ? { name, host, proof } : undefined;
};

const shareOneHistory = (pods: readonly AnsweringPod[]): boolean =>
  pods.every(({ facts }) => facts.replicationId === pods[0]?.facts.replicationId);

/** Of one history, and none that has no copy yet: it started empty, or on an old volume. */
const areCopies = (view: ClusterView, pods: readonly AnsweringPod[]): boolean =>
  shareOneHistory(pods) && !pods.some((pod) => isReturning(view, pod) || isHeldBack(pod));

const findSilent = (view: ClusterView, dead: Dead): readonly string[] =>
  view.dataPods
    .filter((pod) => pod.name !== dead.name && !pod.terminating && !answers(pod))
    .flatMap(({ ip }) => (ip === undefined ? [] : [ip]));

const failOver = (
  view: ClusterView,
  { sentinel, dead, eligible }: { sentinel: SentinelThatAnswers; dead: Dead; eligible: readonly AnsweringPod[] },
): RuleOutcome => {
  const reason = 'PrimaryProvenDead';
  const message = `Sentinel ${sentinel.name} is told to fail over: ${dead.proof.because}.`;
  return {
    reason,
    message,
    findings: [{ type: 'Reconciling', status: 'True', reason, message }],
    actions: [
      {
        kind: 'FailOverBySentinel',
        sentinelPod: sentinel.name,
        masterName: view.names.masterName,
        expectPrimaryHost: dead.host,
        deadPod: dead.name,
        proof: dead.proof.by === 'Exit' ? 'EXIT' : 'GONE',
        replicas: eligible.map((pod) => ({ pod: pod.name, runId: pod.facts.runId })),
        silentHosts: findSilent(view, dead),
        reason,
        message,
        disruptive: true,
      },
    ],
  };
};
