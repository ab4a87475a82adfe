/** Public face of RedisClusters. */
export { RedisClusterChangesResolver } from './redis-cluster-changes.resolver.ts';
export { RedisClusterMutationsResolver } from './redis-cluster-mutations.resolver.ts';
export { RedisClustersModule } from './redis-clusters.module.ts';
export { RedisClusterConnectionResolver, RedisClustersResolver } from './redis-clusters.resolver.ts';
