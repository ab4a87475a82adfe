/**
 * Which pods a rollout has to restart: those that were made from another pod template than their StatefulSet has now, and
 * those that a RedisOperation asked for. The StatefulSet's own revision decides, never a comparison of images: an
 * admission webhook may have rewritten the image, and such a pod would be restarted for ever.
 */
import type { RedisClusterSnapshot } from '#domain';
import type { ClusterView, DataPod, SentinelPod } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';

export interface OutdatedPods {
  /** Highest ordinal first. */
  readonly sentinels: readonly SentinelPod[];
  /** Highest ordinal first. */
  readonly data: readonly DataPod[];
  /** Of them, those that a RedisOperation asked to restart: they wait for no window. */
  readonly asked: ReadonlySet<string>;
  /** The StatefulSet controller has not looked at the newest template yet, so nobody knows who is outdated. */
  readonly unknown: boolean;
}

interface StatefulSetState {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly updateRevision?: string; readonly observedGeneration?: number };
}

/** The revision of the newest template; undefined until the controller has seen that template. */
export const newestRevision = (snapshot: RedisClusterSnapshot, statefulSet: string): string | undefined => {
  const { metadata, status } = (findChild(snapshot, 'StatefulSet', statefulSet) ?? {
    metadata: {},
  }) as StatefulSetState;
  const isSeen = (status?.observedGeneration ?? Infinity) >= (metadata.generation ?? 0);
  return isSeen && status?.updateRevision !== '' ? status?.updateRevision : undefined;
};

export const findOutdated = (view: ClusterView, asked: ReadonlySet<string>): OutdatedPods => {
  const revisions = { redis: newestRevision(view.snapshot, view.names.redis), sentinel: sentinelRevision(view) };
  const isOutdated = (pod: DataPod | SentinelPod): boolean => {
    if (asked.has(pod.name)) return true;
    const newest = revisions[pod.component];
    return newest !== undefined && pod.controllerRevision !== undefined && pod.controllerRevision !== newest;
  };
  const expectsSentinels = view.spec.mode === 'Sentinel' && view.sentinelPods.length > 0;
  return {
    sentinels: view.sentinelPods.filter(isOutdated).reverse(),
    data: view.dataPods.filter(isOutdated).reverse(),
    asked,
    unknown: revisions.redis === undefined || (expectsSentinels && revisions.sentinel === undefined),
  };
};

const sentinelRevision = (view: ClusterView): string | undefined => newestRevision(view.snapshot, view.names.sentinel);
