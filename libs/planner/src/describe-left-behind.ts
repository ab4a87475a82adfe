/**
 * The folders of an earlier membership that lie on the volumes, for `status.setAside`: the servers tell of them in their
 * process titles. A pod that does not answer keeps what was told of it last, so that the list does not blink; one that
 * answers tells when its folder is gone.
 */
import { LEFT_BEHIND, readLeftFolders } from '#domain';
import type { LeftFolder, SetAsideStatus } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';

export const listLeftFolders = ({ facts }: AnsweringPod): readonly LeftFolder[] =>
  readLeftFolders(facts.config['proc-title-template']);

export const describeLeftBehind = (view: ClusterView): readonly SetAsideStatus[] =>
  view.dataPods.flatMap((pod) => (answers(pod) ? describe(pod) : toldLast(view, pod)));

const describe = (pod: AnsweringPod): readonly SetAsideStatus[] =>
  listLeftFolders(pod).map(({ folder, second, bytes }) => ({
    pod: pod.name,
    file: folder,
    at: new Date(second * 1_000).toISOString(),
    reason: LEFT_BEHIND,
    bytes,
  }));

const toldLast = ({ snapshot }: ClusterView, { name }: DataPod): readonly SetAsideStatus[] =>
  (snapshot.resource.status?.setAside ?? []).filter(({ pod, reason }) => pod === name && reason === LEFT_BEHIND);
