/**
 * Connections of each pool. Their sum and two more, for hints and for probes, times the replicas stays below the 97 that
 * PostgreSQL leaves by default (max_connections = 100): four replicas, one of them new while an upgrade rolls.
 */
export interface PoolSizes {
  readonly link: number;
  readonly api: number;
  readonly access: number;
}
export const DEFAULT_POOL_SIZES: PoolSizes = { link: 12, api: 7, access: 3 };
