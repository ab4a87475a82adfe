/**
 * Volumes that want a person: no room for the copy that a returned pod needs beside what was set aside, and disks that take
 * nothing any more, so that a primary refuses writes (MISCONF) or a pod keeps ending. Told with the pod, its claim and what
 * lies there; nothing is ever removed to make room. A snapshot that failed may have other causes than the disk: then only
 * the writes that the primary refuses are told, and no removal is offered. Invariant: no data set stands still for a full volume without
 * saying so; before this one of them was "Available" while every write was refused.
 */
import { describeBytes, readLackOfRoom, VOLUME_FULL } from '#domain';
import { volumeClaimName } from '#manifests';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from '../cluster-view.ts';
import { listLeftFolders } from '../describe-left-behind.ts';
import { whyRefusesForDisk } from '../refuses-for-disk.ts';
import { askPerson } from '../rule.ts';
import type { Rule } from '../rule.ts';

export const tellVolumes: Rule = {
  name: 'tell-volumes',
  decide: ({ view, primary }) => {
    const told = [
      ...view.dataPods.flatMap((pod) => explainFull(view, pod, primary) ?? []),
      ...(primary === undefined ? [] : explainSnapshot(primary)),
      ...view.dataPods.flatMap((pod) => explainNoRoom(view, pod) ?? []),
    ];
    const [first] = told;
    if (first === undefined) return undefined;
    return askPerson(first.reason, told.map(({ message }) => message).join(' '));
  },
};

interface Told {
  readonly reason: 'VolumeFull' | 'SnapshotFailed' | 'NoRoomForCopy';
  readonly message: string;
}

/** Of a replica it stops nothing. */
const explainSnapshot = (primary: AnsweringPod): readonly Told[] => {
  if (whyRefusesForDisk(primary) !== 'SnapshotFails') return [];
  const message =
    `${primary.name} takes no writes (MISCONF), since its last snapshot failed; the log of the server says why. It may lack ` +
    `memory for it, the process that wrote it may have been killed, or its volume ${volumeClaimName(primary.name)} may be full. ` +
    'It takes writes again with the next snapshot that succeeds.';
  return [{ reason: 'SnapshotFailed', message }];
};

const explainNoRoom = (view: ClusterView, pod: DataPod): Told | undefined => {
  const lack = readLackOfRoom(pod.lastWords);
  if (lack === undefined) return undefined;
  const { folder, bytes, freeBytes, neededBytes } = lack;
  const message =
    `${pod.name} does not start: beside ${folder} (${describeBytes(bytes)}) its volume ${volumeClaimName(pod.name)} has ` +
    `${describeBytes(freeBytes)} free, and the copy from the primary needs ${describeBytes(neededBytes)}. ` +
    `Raise spec.storage.size, or copy the folder out if it is wanted and remove it: ${removal(view, pod)}. ` +
    'The pod goes on by itself then.';
  return { reason: 'NoRoomForCopy', message };
};

const explainFull = (view: ClusterView, pod: DataPod, primary: AnsweringPod | undefined): Told | undefined => {
  const what = describeFull(pod, primary);
  if (what === undefined) return undefined;
  const left = answers(pod)
    ? listLeftFolders(pod).map(({ folder, bytes }) => `/data/${folder} (${describeBytes(bytes)})`)
    : [];
  const aside = left.length === 0 ? '' : ` What was set aside there may go: ${left.join(', ')}: ${removal(view, pod)}.`;
  const message =
    `${pod.name} ${what}: its volume ${volumeClaimName(pod.name)} is full, or its disk fails. Raise spec.storage.size; ` +
    `it goes on by itself then.${aside}`;
  return { reason: 'VolumeFull', message };
};

const describeFull = (pod: DataPod, primary: AnsweringPod | undefined): string | undefined => {
  if (!answers(pod))
    return pod.lastWords === VOLUME_FULL && pod.waitingReason !== undefined ? 'keeps ending' : undefined;
  if (whyRefusesForDisk(pod) !== 'AppendFails') return undefined;
  const fails = 'cannot write its append-only file';
  return pod.name === primary?.name ? `takes no writes (MISCONF), since it ${fails}` : fails;
};

const removal = ({ key }: ClusterView, { name }: DataPod): string =>
  `kubectl exec -n ${key.namespace} ${name} -c redis -- sh -c 'rm -rf /data/left-behind.*'`;
