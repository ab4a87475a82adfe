/**
 * Why a pod does not start, in words that stay the same for as long as the defect does. Kubernetes' own sentences count
 * ("back-off 40s") and alternate (ErrImagePull, ImagePullBackOff); a status made of them would be written, and tell its
 * event, again and again while nothing changes.
 */
import { readLackOfRoom, VOLUME_FULL } from '#domain';
import { volumeClaimName } from '#manifests';
import type { PodSnapshot, RedisClusterSnapshot } from '#domain';
import { findChild } from './find-child.ts';

type Explained = Pick<PodSnapshot, 'name' | 'component' | 'waitingReason' | 'lastWords' | 'image' | 'restarts'>;
type Children = Pick<RedisClusterSnapshot, 'children'>;

/** Kubernetes waits 10, 20, 40 and 80 s before these restarts, 2.5 minutes in all. */
const YOUNG_RESTARTS = 5;

/** A verb phrase to follow the pod's name; undefined for a pod that Kubernetes says nothing bad of. */
export const explainStuckPod = (pod: Explained, snapshot: Children): string | undefined => {
  if (lacksRoom(pod)) return 'waits: its volume has no room for a copy';
  if (pod.waitingReason === undefined) return undefined;
  const [code = '', ...rest] = pod.waitingReason.split(': ');
  switch (code) {
    case 'Unschedulable':
      return `cannot be scheduled: ${rest.join(': ')}${explainClaim(pod, snapshot)}`;
    case 'ErrImagePull':
    case 'ImagePullBackOff':
      return `cannot start: ErrImagePull of ${pod.image ?? 'its image'}`;
    case 'CrashLoopBackOff':
      return `keeps ending: CrashLoopBackOff${pod.lastWords === VOLUME_FULL ? ', its volume is full' : ''}`;
    default:
      return `cannot start: ${pod.waitingReason}`;
  }
};

/** It ended, and Kubernetes will start it again within the minute; nobody has to do anything yet. */
export const restartsSoon = (pod: Pick<Explained, 'waitingReason' | 'lastWords' | 'restarts'>): boolean =>
  !lacksRoom(pod) && pod.waitingReason?.startsWith('CrashLoopBackOff') === true && pod.restarts < YOUNG_RESTARTS;

/** It waits for a person, whatever Kubernetes says of its container. */
export const lacksRoom = ({ lastWords }: { readonly lastWords?: string | undefined }): boolean =>
  readLackOfRoom(lastWords) !== undefined;

/** A claim of a storage class that does not exist stays Pending, and the scheduler does not say so. */
const explainClaim = (pod: Explained, snapshot: Children): string => {
  if (pod.component !== 'redis') return '';
  const claim = findChild(snapshot, 'PersistentVolumeClaim', volumeClaimName(pod.name));
  const { status, spec } = (claim ?? {}) as { status?: { phase?: string }; spec?: { storageClassName?: string } };
  if (status?.phase !== 'Pending') return '';
  return ` (its volume claim is Pending, ${describeClass(spec?.storageClassName)})`;
};

const describeClass = (name: string | undefined): string =>
  name === undefined || name === '' ? 'without a storage class' : `storage class ${name}`;

/**
 * Every pod that does not start, pods with the same reason together: `a, b cannot be scheduled: ….`. Those whose name and
 * reason `told` holds already are left out. Empty when there is nothing to add.
 */
export const tellStuckPods = (pods: readonly StuckPod[], told: string): string => {
  const byWhy = new Map<string, readonly string[]>();
  for (const { name, why } of pods) {
    if (!told.includes(name) || !told.includes(why)) byWhy.set(why, [...(byWhy.get(why) ?? []), name]);
  }
  return [...byWhy].map(([why, names]) => ` ${names.join(', ')} ${why.replace(/\.$/, '')}.`).join('');
};

export interface StuckPod {
  readonly name: string;
  readonly why: string;
  /** A back-off that is Kubernetes' business for now. */
  readonly restartsSoon: boolean;
}

/** Pods that are wanted and not ready, and that Kubernetes says why of. */
export const findStuckPods = (
  pods: readonly (Explained & Pick<PodSnapshot, 'ready' | 'terminating'>)[],
  snapshot: Children,
): readonly StuckPod[] =>
  pods.flatMap((pod) => {
    const why = pod.ready || pod.terminating ? undefined : explainStuckPod(pod, snapshot);
    return why === undefined ? [] : [{ name: pod.name, why, restartsSoon: restartsSoon(pod) }];
  });
