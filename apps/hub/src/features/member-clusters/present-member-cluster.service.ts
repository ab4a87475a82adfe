import type { Clock } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { toAgent, toMemberCluster } from './member-cluster.mapper.ts';
import type { Agent, MemberCluster } from './member-cluster.model.ts';
import type { EnrolMemberClusterPayload } from './member-cluster.payload.ts';
import { MemberClusterReadsRepository } from './member-cluster-reads.repository.ts';
import type { IssuedToken } from './member-clusters.types.ts';

type TokenFields = Pick<
  EnrolMemberClusterPayload,
  'token' | 'tokenExpiresAt' | 'installCommand' | 'caCertificate' | 'hubAddress'
>;

/** How mutations of enrolment show what they did, as their transaction sees it. */
@Injectable()
export class PresentMemberClusterService {
  constructor(
    private readonly repository: MemberClusterReadsRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async show(
    tx: EntityManager,
    ids: { readonly memberClusterId: string; readonly agentId: string },
  ): Promise<{ memberCluster: MemberCluster | null; agent: Agent | null }> {
    const [memberCluster] = await this.repository.readMemberClusters([ids.memberClusterId], tx);
    const [agent] = await this.repository.readAgents([ids.agentId], tx);
    return {
      memberCluster: memberCluster ? toMemberCluster(memberCluster) : null,
      agent: agent ? toAgent(agent, this.clock.nowMs()) : null,
    };
  }

  async showForgotten(
    tx: EntityManager,
    memberClusterId: string,
  ): Promise<{ memberCluster: MemberCluster | null; orphanedHubUids: string[] }> {
    const [memberCluster] = await this.repository.readMemberClusters([memberClusterId], tx);
    const orphanedHubUids = await this.repository.listHubUids(tx, memberClusterId);
    return { memberCluster: memberCluster ? toMemberCluster(memberCluster) : null, orphanedHubUids };
  }

  token(issued: IssuedToken | undefined): TokenFields {
    if (!issued)
      return { token: null, tokenExpiresAt: null, installCommand: null, caCertificate: null, hubAddress: null };
    const { token, tokenExpiresAt, installCommand, caCertificate, hubAddress } = issued;
    return { token, tokenExpiresAt, installCommand, caCertificate, hubAddress };
  }
}
