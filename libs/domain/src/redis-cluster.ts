import type { RedisClusterSpec } from './redis-cluster-spec.ts';
import type { RedisClusterStatus } from './redis-cluster-status.ts';

/** One entry of metadata.managedFields: which fields a manager owns, as Kubernetes' FieldsV1. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
}

/** The part of Kubernetes' object metadata that Atoll reads. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any Kubernetes object, as plain data. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface RedisClusterObject extends KubeObject {
  readonly kind: 'RedisCluster';
  readonly spec: RedisClusterSpec;
  readonly status?: RedisClusterStatus;
}
