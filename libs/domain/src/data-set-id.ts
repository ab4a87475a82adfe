/**
 * Which data set a RedisCluster speaks for. Names of StatefulSets, volumes and the Sentinel master end in a hash of it.
 * Invariant: it never changes once fixed. The status comes first, as what was fixed at the first reconcile; then the
 * annotation, which adoption and a person use to take up an existing data set; then the hub's id; then Kubernetes' own.
 * Were a later edit of an annotation to win, the pods would be left behind and an empty data set made beside them.
 */
import { hubUidOf } from './hub-uid.ts';
import { asDataSetId } from './ids.ts';
import type { DataSetId } from './ids.ts';
import { ANNOTATION } from './names.ts';
import type { RedisClusterObject } from './redis-cluster.ts';

export const dataSetIdOf = (resource: RedisClusterObject): DataSetId => {
  const { annotations, uid } = resource.metadata;
  const id =
    resource.status?.dataSetId || annotations?.[ANNOTATION.dataSetId] || hubUidOf(resource.metadata) || uid || '';
  return asDataSetId(id);
};
