/**
 * Whether the recorded primary is proven not to be running as one, as far as a single picture shows it (04, "When it may
 * promote"). A time-out, a frozen process, a partition, "I cannot reach it" prove nothing. Proofs: it answers as a
 * replica itself (e); its Node object is deleted (c); its pod has no process, its last node is Ready, and every other
 * data pod lost its link to it longer ago than a silent kubelet can look Ready (b).
 */
import type { RedisClusterStatus } from '#domain';
import { answers } from './cluster-view.ts';
import type { ClusterView, DataPod } from './cluster-view.ts';

export type DeathProof = { readonly proven: true } | { readonly proven: false; readonly missing: string };

const proven: DeathProof = { proven: true };
const unproven = (missing: string): DeathProof => ({ proven: false, missing });

export const proveDeath = (view: ClusterView): DeathProof => {
  const name = view.record?.primaryPod;
  if (name === undefined) return unproven('No primary is recorded.');
  const pod = view.dataPods.find((candidate) => candidate.name === name);
  if (pod !== undefined && answersAsReplica(pod)) return proven;
  const node = pod?.node ?? lastNodeOf(view.snapshot.resource.status, name);
  if (node === undefined) return unproven(`Nobody knows on which node ${name} last ran.`);
  const { nodes } = view.snapshot;
  if (nodes.length > 0 && !nodes.some((candidate) => candidate.name === node)) return proven;
  return proveByKubelet(view, pod, name, node);
};

const answersAsReplica = (pod: DataPod): boolean => answers(pod) && pod.facts.role === 'slave';

const proveByKubelet = (view: ClusterView, pod: DataPod | undefined, name: string, node: string): DeathProof => {
  if (pod?.ip !== undefined) return unproven(`${name} on node ${node} does not answer, which does not prove a death.`);
  const ready = view.snapshot.nodes.some((candidate) => candidate.name === node && candidate.ready);
  if (!ready) return unproven(`Node ${node}, on which ${name} last ran, is not Ready.`);
  if (everyLinkDownLongEnough(view, name)) return proven;
  return unproven(`${name} is gone, but not long enough to be sure that nothing of it still runs.`);
};

const lastNodeOf = (status: RedisClusterStatus | undefined, pod: string): string | undefined =>
  status?.shards?.flatMap((shard) => shard.pods).find((candidate) => candidate.name === pod)?.node;

const everyLinkDownLongEnough = ({ dataPods, policy }: ClusterView, except: string): boolean =>
  dataPods
    .filter((pod) => pod.name !== except)
    .every((pod) => answers(pod) && (pod.facts.linkDownSinceMs ?? 0) >= policy.kubeletHeardAfterMs);
