/**
 * Volumes that want a person: no room for the copy that a returned pod needs beside what was set aside, and disks that take
 * nothing any more, so that a primary refuses writes (MISCONF) or a pod keeps ending. Told with the pod, its claim and what
 * lies there; nothing is ever removed to make room. Invariant: no data set stands still for a full volume without
 * saying so; before this one of them was "Available" while every write was refused.
 */
import { describeBytes, readLackOfRoom, VOLUME_FULL } from '#domain';
import { volumeClaimName } from '#manifests';
import { answers } from '../cluster-view.ts';
import type { ClusterView, DataPod } from '../cluster-view.ts';
import { listLeftFolders } from '../describe-left-behind.ts';
import { refusesForDisk } from '../refuses-for-disk.ts';
import { askPerson } from '../rule.ts';
import type { Rule } from '../rule.ts';

export const tellVolumes: Rule = {
  name: 'tell-volumes',
  decide: ({ view }) => {
    const full = view.dataPods.flatMap((pod) => explainFull(view, pod) ?? []);
    const noRoom = view.dataPods.flatMap((pod) => explainNoRoom(view, pod) ?? []);
    const [first] = [...full, ...noRoom];
    if (first === undefined) return undefined;
    const reason = full.length > 0 ? 'VolumeFull' : 'NoRoomForCopy';
    return askPerson(reason, [...full, ...noRoom].join(' '));
  },
};

const explainNoRoom = (view: ClusterView, pod: DataPod): string | undefined => {
  const lack = readLackOfRoom(pod.lastWords);
  if (lack === undefined) return undefined;
  const { folder, bytes, freeBytes, neededBytes } = lack;
  return (
    `${pod.name} does not start: beside ${folder} (${describeBytes(bytes)}) its volume ${volumeClaimName(pod.name)} has ` +
    `${describeBytes(freeBytes)} free, and the copy from the primary needs ${describeBytes(neededBytes)}. ` +
    `Raise spec.storage.size, or copy the folder out if it is wanted and remove it: ${removal(view, pod)}. ` +
    'The pod goes on by itself then.'
  );
};

const explainFull = (view: ClusterView, pod: DataPod): string | undefined => {
  const what = describeFull(pod);
  if (what === undefined) return undefined;
  const left = answers(pod)
    ? listLeftFolders(pod).map(({ folder, bytes }) => `/data/${folder} (${describeBytes(bytes)})`)
    : [];
  const aside = left.length === 0 ? '' : ` What was set aside there may go: ${left.join(', ')}: ${removal(view, pod)}.`;
  return (
    `${pod.name} ${what}: its volume ${volumeClaimName(pod.name)} is full, or its disk fails. Raise spec.storage.size; ` +
    `it goes on by itself then.${aside}`
  );
};

const describeFull = (pod: DataPod): string | undefined => {
  if (answers(pod))
    return refusesForDisk(pod) ? 'takes no writes (MISCONF), since it cannot write its file' : undefined;
  return pod.lastWords === VOLUME_FULL && pod.waitingReason !== undefined ? 'keeps ending' : undefined;
};

const removal = ({ key }: ClusterView, { name }: DataPod): string =>
  `kubectl exec -n ${key.namespace} ${name} -c redis -- sh -c 'rm -rf /data/left-behind.*'`;
