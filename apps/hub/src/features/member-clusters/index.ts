/** Public face of member clusters: enrolment, approval and revocation, and what others read of them. */
export { Freshnesses } from './member-cluster.enums.ts';
export { MemberCluster } from './member-cluster.model.ts';
export { MemberClustersApiModule } from './member-clusters-api.module.ts';
export { MemberClusterLoader } from './member-cluster.loader.ts';
export { MemberClusterFieldsResolver } from './member-cluster-fields.resolver.ts';
export { AgentResolver, MemberClusterConnectionResolver, MemberClustersResolver } from './member-clusters.resolver.ts';
