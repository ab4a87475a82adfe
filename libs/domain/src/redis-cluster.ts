import type { RedisClusterSpec } from './redis-cluster-spec.ts';
import type { RedisClusterStatus } from './redis-cluster-status.ts';

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
