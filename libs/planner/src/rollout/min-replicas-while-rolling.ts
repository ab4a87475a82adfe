/**
 * With one replica and min-replicas-to-write 1, the default of a size of two, a planned restart of that replica would stop
 * the writes for as long as it is away. So the bound is lowered for the time of the rollout, unless the user set it: only
 * one pod is away then, by our own doing, and nobody else can be made primary while it is.
 */
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { isUnderWay } from './explain-hold.ts';
import type { Unrest } from './explain-unrest.ts';

const relaxes = ({ snapshot, dataPods }: ClusterView): boolean =>
  dataPods.length <= 2 && snapshot.resource.spec.failover?.minReplicasToWrite === undefined;

export const mostWhileRolling = (view: ClusterView): number =>
  isUnderWay(view.snapshot.resource.status?.rollout) && relaxes(view) ? 0 : Infinity;

/** Before the only replica goes, the running primary takes writes without it. */
export const explainStrictPrimary = (view: ClusterView, primary: AnsweringPod): Unrest | undefined => {
  const live = primary.facts.config['min-replicas-to-write'];
  if (live === undefined || live === '0' || view.spec.size !== 2 || !relaxes(view)) return undefined;
  const message = `${primary.name} takes writes without its only replica, as long as that one is restarted.`;
  return { reason: 'LoweringMinReplicas', message };
};
