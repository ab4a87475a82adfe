export { RedisClusterConnectionResolver, RedisClustersResolver } from './redis-clusters.resolver.ts';
export { RedisClusterChangesResolver } from './redis-cluster-changes.resolver.ts';
export { RedisClusterMutationsResolver } from './redis-cluster-mutations.resolver.ts';
