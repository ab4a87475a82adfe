/** Public face of member clusters: enrolment, approval and revocation as services; the resolvers are in this folder. */
export type {
  Actor,
  ApprovedAgent,
  ApproveAgentInput,
  EnrolledMemberCluster,
  EnrolMemberClusterInput,
  RevokeAgentInput,
} from './member-clusters.types.ts';
export { Freshnesses } from './member-cluster.enums.ts';
export { MemberCluster } from './member-cluster.model.ts';
export { MemberClustersApiModule } from './member-clusters-api.module.ts';
export { MemberClusterLoader } from './member-cluster.loader.ts';
export { MemberClusterFieldsResolver } from './member-cluster-fields.resolver.ts';
export { AgentResolver, MemberClusterConnectionResolver, MemberClustersResolver } from './member-clusters.resolver.ts';
