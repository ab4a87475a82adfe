/**
 * A deletion that waits for a person: denied by its policy, or a last snapshot that no pod can write now. It is the last rule
 * that asks, since what runs is kept running as if nobody had deleted the object, and a repair may need an answer first.
 */
import type { ClusterView } from '../cluster-view.ts';
import { keepLastSnapshot, isKeptAside } from '../keep-last-snapshot.ts';
import { askPerson } from '../rule.ts';
import type { Rule } from '../rule.ts';

export const tellWaitingDeletion: Rule = {
  name: 'tell-waiting-deletion',
  decide: ({ view, primary }) => {
    if (view.snapshot.resource.metadata.deletionTimestamp === undefined) return undefined;
    if (isDeletionDenied(view)) return askPerson('DeletionDenied', DENIED);
    return view.wanted.deletionPolicy === 'Snapshot' && !isKeptAside(view)
      ? keepLastSnapshot(view, primary)
      : undefined;
  },
};

const DENIED =
  'Deletion is denied by spec.deletionPolicy: Redis runs on and is kept running. Kubernetes cannot take a deletion back. ' +
  'To keep the data and let the object go, set spec.deletionPolicy to RetainVolumes; volumes, record and credentials stay for ' +
  'a RedisCluster that takes them up again. To delete the data too, set it to Delete.';

/** Deny protects what is there. When the namespace itself was deleted, everything is gone but the object. */
export const isDeletionDenied = ({ wanted, snapshot, dataPods, sentinelPods }: ClusterView): boolean =>
  wanted.deletionPolicy === 'Deny' && snapshot.children.length + dataPods.length + sentinelPods.length > 0;
