/**
 * The use cases of `MemberClustersService` (injectable), all of the shape
 * `method(tx: EntityManager, request: { input, actor, nowMs }): Promise<Outcome<T>>`; the caller owns the transaction,
 * so that its audit row and idempotency key commit together with the work.
 */
import type { AgentId, MemberClusterId } from '#domain';

/** Who asks; principals come from the access feature. */
export interface Actor {
  readonly principal: string;
}

/** enrolMemberCluster */
export interface EnrolMemberClusterInput {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly region?: string;
  readonly scope: 'CLUSTER' | 'NAMESPACE';
  /** Scope NAMESPACE: the namespace that the agent will own. */
  readonly namespace?: string;
  /** One of the hub's public agent addresses; default the first. */
  readonly hubAddress?: string;
}
/** An enrolment token and what an agent needs beside it. */
export interface IssuedToken {
  /** Shown once; only its hash is stored. */
  readonly token: string;
  readonly tokenExpiresAt: Date;
  /** The shell command that reads the token on standard input, keeps it in a Secret, and installs the agent with it. */
  readonly installCommand: string;
  /** PEM of the CA that agents verify the hub with. */
  readonly caCertificate: string;
  /** The hub address in the command. */
  readonly hubAddress: string;
}
export interface EnrolledMemberCluster extends IssuedToken {
  readonly memberClusterId: MemberClusterId;
  readonly agentId: AgentId;
}
/** reissueToken: for an enrolment whose agent has not come yet. */
export type ReissueTokenInput = EnrolMemberClusterInput & { readonly agentId: string };

/** approveAgent: binds the key and the fingerprint that the agent sent with its token. */
export interface ApproveAgentInput {
  readonly agentId: string;
  /** Joins a namespaced agent to another member cluster than the one it was enrolled under. */
  readonly memberClusterId?: string;
}
/** replaceMemberCluster: the agent that has enrolled takes the place of the one that serves the same scope there. */
export interface ReplaceMemberClusterInput {
  readonly agentId: string;
  readonly memberClusterId: string;
}
export interface ReplacedMemberCluster extends ApprovedAgent {
  /** What the new agent is asked for from now on. */
  readonly hubUids: readonly string[];
}
export interface ApprovedAgent {
  readonly agentId: AgentId;
  readonly memberClusterId: MemberClusterId;
}

/** revokeAgent, and forgetMemberCluster with `memberClusterId`: live sessions end at once. */
export interface RevokeAgentInput {
  readonly agentId: string;
}
