/**
 * Pods that come back to a volume of an earlier membership. Scaling down keeps the volume; when the same ordinal is added
 * again, weeks later, what lies there is an old state of this very data set, which neither its keys nor its history tell
 * from a copy that is merely behind. So before such a pod exists the record names it (rules/note-returning-pods.ts), its
 * entrypoint sets the old files aside, and until it was seen linked to the primary it counts as no copy. Invariant: the
 * size never grows over an old volume that is not noted. Without this a primary that dies in those seconds is followed by
 * the state of weeks ago, and erased by it when it comes back.
 */
import { podName, volumeClaimName } from '#manifests';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';
import { findChild } from './find-child.ts';

/**
 * Ordinals from the running size up to the wanted one whose volume is there already and is not noted. Never one whose pod
 * exists, never the recorded primary; and none at all while nothing tells what the running size is: then every volume
 * would look left, the only good one too.
 */
export const findUnnotedVolumes = (view: ClusterView): readonly number[] => {
  if (view.live.mode === undefined || view.live.size === undefined) return [];
  const from = Math.max(view.live.size, ...view.dataPods.map((pod) => pod.ordinal + 1));
  return Array.from({ length: Math.max(0, view.wanted.size - from) }, (_, index) => from + index)
    .filter((ordinal) => !isRecordedPrimary(view, ordinal))
    .filter((ordinal) => findChild(view.snapshot, 'PersistentVolumeClaim', claimOf(view, ordinal)) !== undefined)
    .filter((ordinal) => view.record?.returning?.[ordinal] === undefined);
};

/** Whoever was primary last holds the data set, however it came to be noted. */
export const isRecordedPrimary = ({ record, names }: ClusterView, ordinal: number): boolean =>
  record?.primaryPod === podName(names.redis, ordinal);

const claimOf = ({ names }: ClusterView, ordinal: number): string => volumeClaimName(podName(names.redis, ordinal));

/** Noted, and not seen as a member since. */
export const isReturning = ({ record }: ClusterView, pod: DataPod): boolean =>
  record?.returning?.[pod.ordinal] !== undefined;

/** Returning pods that hold keys and are linked to nobody: an old state, or one that nobody saw arrive. */
export const findOldStates = (view: ClusterView): readonly AnsweringPod[] =>
  view.dataPods.filter(answers).filter((pod) => isReturning(view, pod) && pod.facts.keys > 0);
