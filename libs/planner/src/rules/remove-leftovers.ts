/**
 * What an earlier shape needed and this one does not: the Sentinels' objects after their mode was left, the replicas'
 * Service of a Standalone, and, with deletionPolicy Delete alone, the volumes of data pods that were scaled away. Asked for
 * in calm only. Invariant: nothing is removed that is rendered now, and no volume of a pod that is there or wanted.
 */
import { LABEL } from '#domain';
import type { Action, KubeObject } from '#domain';
import { parseOrdinal, VOLUME_CLAIM_PREFIX } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import type { Rule } from '../rule.ts';

export const removeLeftovers: Rule = {
  name: 'remove-leftovers',
  decide: ({ view, primary, planned }) => {
    if (!view.specUsable || primary === undefined || planned.length > 0) return undefined;
    const found = view.snapshot.children.filter(
      (child) => isOurs(view, child) && (isLeftObject(view, child) || isLeftVolume(view, child)),
    );
    const actions = found.map(remove);
    const [first] = actions;
    return first && { reason: first.reason, message: first.message, actions };
  },
};

const isOurs = ({ names, key }: ClusterView, { metadata }: KubeObject): boolean =>
  metadata.labels?.[LABEL.dataSet] === names.hash &&
  metadata.labels[LABEL.instance] === key.name &&
  metadata.uid !== undefined &&
  metadata.deletionTimestamp === undefined;

const isLeftObject = ({ spec, names }: ClusterView, { kind, metadata: { name } }: KubeObject): boolean => {
  const ofSentinel =
    (kind === 'StatefulSet' && name === names.sentinel) ||
    (kind === 'PodDisruptionBudget' && name === names.sentinel) ||
    (kind === 'Service' && name === names.sentinelService);
  if (ofSentinel) return spec.mode !== 'Sentinel';
  return kind === 'Service' && name === names.replicasService && spec.mode === 'Standalone';
};

const isLeftVolume = (view: ClusterView, { kind, metadata: { name } }: KubeObject): boolean => {
  if (kind !== 'PersistentVolumeClaim' || view.wanted.deletionPolicy !== 'Delete') return false;
  if (view.shapeNotes.length > 0 || !name.startsWith(`${VOLUME_CLAIM_PREFIX}-${view.names.redis}-`)) return false;
  const ordinal = parseOrdinal(name);
  const scaledAway = ordinal !== undefined && ordinal >= Math.max(view.spec.size, view.live.running.redis ?? 0);
  return scaledAway && view.dataPods.every((pod) => pod.ordinal < view.spec.size);
};

const remove = ({ apiVersion, kind, metadata }: KubeObject): Action => ({
  kind: 'DeleteChild',
  apiVersion,
  objectKind: kind,
  key: { namespace: metadata.namespace ?? '', name: metadata.name },
  uid: metadata.uid ?? '',
  reason: 'NotNeededAnyMore',
  message: `Deleting ${kind} ${metadata.name}, which this shape has no use for.`,
  disruptive: false,
});
