/**
 * Whether the recorded primary is proven not to run as one (04, "When it may promote"). A time-out, a frozen process, a
 * partition, "I cannot reach it" prove nothing: Sentinel and the node's time-out decide those. The proofs:
 * (a) our connection was closed from its side and its address refused twice since; never behind a mesh, where a sidecar
 *     answers for it;
 * (b) its pod object is gone and its node's kubelet was heard after that, or after every replica's link had been down so
 *     long that it has fenced itself (a forced deletion takes the object away first);
 * (c) its Node object is deleted, or a person tainted it out-of-service;
 * (d) so many replicas lost it for so long that it cannot have enough of them to take writes;
 * (e) it answers as a replica itself: the startup guard demoted it.
 * (a) and (b) are enough beside Sentinel, the others only where nobody else decides.
 */
import { REDIS_PORT } from '#domain';
import type { SeenExit } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';

export type DeathProof =
  | {
      readonly proven: true;
      readonly by: 'Exit' | 'PodGone' | 'NodeGone' | 'SelfFenced' | 'Demoted';
      readonly because: string;
      /** Address to ask once more right before acting on it. */
      readonly refusingHost?: string;
      /** When it can have served last, as far as the proof tells. */
      readonly endedAtMs?: number;
    }
  | { readonly proven: false; readonly missing: string };

/** max-lag 10 s and 2 s: then a primary without enough replicas has stopped taking writes. */
const SELF_FENCED_AFTER_MS = 12_000;

/** A Lease is dated by its node, a pod by the API server. */
const CLOCK_MARGIN_MS = 5_000;

const unproven = (missing: string): DeathProof => ({ proven: false, missing });

export const proveDeath = (view: ClusterView): DeathProof => {
  const name = view.record?.primaryPod;
  if (name === undefined) return unproven('No primary is recorded.');
  const pod = view.dataPods.find((candidate) => candidate.name === name);
  if (pod !== undefined && answers(pod)) {
    if (pod.facts.role === 'master') return unproven(`${name} answers as primary.`);
    return { proven: true, by: 'Demoted', because: `${name} answers as a replica itself` };
  }
  return (
    proveExit(view, pod) ??
    proveNodeGone(view, pod, name) ??
    proveSelfFenced(view, pod, name) ??
    provePodGone(view, pod, name)
  );
};

/** (a). undefined: no such proof. */
export const proveExit = (
  view: ClusterView,
  pod: DataPod | undefined,
): Extract<DeathProof, { proven: true }> | undefined => {
  const exit = pod === undefined ? undefined : exitOf(pod);
  if (pod?.ip === undefined || exit?.refusedTwice !== true || view.spec.mesh !== 'None') return undefined;
  return {
    proven: true,
    by: 'Exit',
    because: `the process of ${pod.name} has ended: it closed its connection and its address refuses new ones`,
    refusingHost: pod.ip,
    endedAtMs: exit.closedAtMs,
  };
};

const exitOf = ({ facts }: DataPod): SeenExit | undefined => (facts.reachable ? undefined : facts.exit);

/** (c). */
const proveNodeGone = (view: ClusterView, pod: DataPod | undefined, name: string): DeathProof | undefined => {
  const node = pod?.node ?? view.record?.primaryNode;
  const { nodes } = view.snapshot;
  if (node === undefined || nodes.length === 0) return undefined;
  const live = nodes.find((candidate) => candidate.name === node);
  if (live === undefined) return { proven: true, by: 'NodeGone', because: `node ${node} of ${name} is deleted` };
  if (live.outOfService !== true) return undefined;
  return { proven: true, by: 'NodeGone', because: `node ${node} of ${name} is tainted out-of-service` };
};

/**
 * (d). Of r replicas with min-replicas-to-write m it needs m to take writes, so r - m + 1 that lost it leave it too few.
 * The lowest m that anybody runs with counts, since it may have been changed while it was out of sight.
 */
const proveSelfFenced = (view: ClusterView, pod: DataPod | undefined, name: string): DeathProof | undefined => {
  const host = view.record?.primaryHost ?? pod?.ip;
  const replicas = view.dataPods.filter(answers).filter((candidate) => candidate.name !== name);
  const lowest = Math.min(
    view.spec.failover.minReplicasToWrite,
    ...replicas.map(({ facts }) => Number(facts.config['min-replicas-to-write'] ?? Infinity)),
  );
  if (host === undefined || !(lowest >= 1)) return undefined;
  const lost = replicas.filter((replica) => lostFor(replica, host, SELF_FENCED_AFTER_MS));
  const others = Math.max(view.spec.size, view.dataPods.length) - 1;
  if (lost.length < others - lowest + 1) return undefined;
  const because = `${lost.length} of ${others} replicas lost ${name} longer ago than it takes writes without ${lowest} of them`;
  return { proven: true, by: 'SelfFenced', because };
};

const lostFor = ({ facts }: AnsweringPod, host: string, atLeastMs: number): boolean =>
  facts.role === 'slave' &&
  facts.linkUp !== true &&
  facts.masterHost === host &&
  facts.masterPort === REDIS_PORT &&
  (facts.linkDownSinceMs ?? 0) > atLeastMs;

/**
 * (b). There is no memory of when the pod object went. A successor was created after it had gone; where there is none,
 * the links that every replica lost say since when it served nobody, and 12 s later it had fenced itself.
 */
export const provePodGone = (view: ClusterView, pod: DataPod | undefined, name: string): DeathProof => {
  const { primaryNode, primaryHost } = view.record ?? {};
  if (pod !== undefined && isStillTheOne(pod, primaryHost)) {
    return unproven(`${name} on node ${pod.node ?? 'unknown'} does not answer, which does not prove a death.`);
  }
  if (primaryNode === undefined || primaryHost === undefined) return unproven(`Nobody knows where ${name} last ran.`);
  const goneSinceMs = pod?.createdAtMs ?? earliestSelfFence(view, name);
  if (goneSinceMs === undefined) return unproven(`${name} is gone, but not every other pod says since when.`);
  return proveByKubelet(view, { name, node: primaryNode, goneSinceMs });
};

const proveByKubelet = (
  view: ClusterView,
  { name, node, goneSinceMs }: { readonly name: string; readonly node: string; readonly goneSinceMs: number },
): DeathProof => {
  const live = view.snapshot.nodes.find((candidate) => candidate.name === node);
  if (live?.ready !== true) return unproven(`Node ${node}, on which ${name} last ran, is not Ready.`);
  if (!heardAfter(view, { heardAtMs: live.heardAtMs, goneSinceMs })) {
    return unproven(`${name} is gone, but the kubelet of node ${node} was not heard since.`);
  }
  return {
    proven: true,
    by: 'PodGone',
    because: `pod ${name} is gone, and the kubelet of its node ${node} was heard after that`,
  };
};

/** The pod that was primary, or one that nobody can tell from it. */
const isStillTheOne = (pod: DataPod, primaryHost: string | undefined): boolean =>
  pod.terminating || (pod.ip !== undefined && (primaryHost === undefined || pod.ip === primaryHost));

/** Where the node's Lease may not be read: Ready for longer than a silent kubelet can look it. */
const heardAfter = (
  { snapshot, policy }: ClusterView,
  { heardAtMs, goneSinceMs }: { heardAtMs: number | undefined; goneSinceMs: number },
): boolean =>
  heardAtMs === undefined
    ? snapshot.observedAtMs - goneSinceMs >= policy.kubeletHeardAfterMs
    : heardAtMs > goneSinceMs + CLOCK_MARGIN_MS;

const earliestSelfFence = ({ dataPods, snapshot }: ClusterView, except: string): number | undefined => {
  const others = dataPods.filter((pod) => pod.name !== except);
  const lostAtMs = others.map((pod) =>
    answers(pod) && pod.facts.linkDownSinceMs !== undefined && pod.facts.linkUp !== true
      ? snapshot.observedAtMs - pod.facts.linkDownSinceMs
      : undefined,
  );
  const known = lostAtMs.filter((time) => time !== undefined);
  return known.length === 0 || known.length < others.length ? undefined : Math.max(...known) + SELF_FENCED_AFTER_MS;
};
