import type { Kubectl } from '../../tools/fleet/connect-redis.ts';
import type { KubernetesAccess } from '../../tools/fleet/member-cluster.ts';

/** An enrolled member cluster, as the measurements use it. */
export interface BenchMember {
  readonly access: KubernetesAccess;
  readonly kubectl: Kubectl;
  readonly memberClusterId: string;
}

export const BENCH_NAMESPACE = 'bench';
const resources = { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } };
export const SENTINEL = { engine: { type: 'REDIS', version: '8.0' }, mode: 'SENTINEL', size: 3, resources };
export const STANDALONE = { ...SENTINEL, mode: 'STANDALONE', size: 1 };
