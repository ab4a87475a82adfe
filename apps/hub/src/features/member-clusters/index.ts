/** Public face of member clusters: enrolment, approval and revocation as services; the resolvers are in this folder. */
export type {
  Actor,
  ApprovedAgent,
  ApproveAgentInput,
  EnrolledMemberCluster,
  EnrolMemberClusterInput,
  RevokeAgentInput,
} from './member-clusters.types.ts';
