import type { Clock, Freshness } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import type { Loaders } from '../../platform/graphql/index.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { leastFresh } from './least-fresh.rules.ts';
import { MemberClusterLoader } from './member-cluster.loader.ts';
import { toAgent } from './member-cluster.mapper.ts';
import type { Agent, MemberCluster } from './member-cluster.model.ts';
import { MemberClusterReadsRepository } from './member-cluster-reads.repository.ts';

@Injectable()
export class AgentLoader {
  constructor(
    private readonly repository: MemberClusterReadsRepository,
    private readonly memberClusters: MemberClusterLoader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  ofMemberCluster(loaders: Loaders, memberClusterId: string): Promise<readonly Agent[]> {
    const loader = loaders.get<string, readonly Agent[]>(this, async (ids) => {
      const rows = await this.repository.readAgentsOf(ids);
      const nowMs = this.clock.nowMs();
      return ids.map((id) => rows.filter((row) => row.member_cluster_id === id).map((row) => toAgent(row, nowMs)));
    });
    return loader.load(memberClusterId);
  }

  memberClusterOf(loaders: Loaders, agent: Agent): Promise<MemberCluster> {
    return this.memberClusters.load(loaders, agent.memberClusterId);
  }

  async freshnessOf(loaders: Loaders, memberClusterId: string): Promise<Freshness> {
    return (await this.speaker(loaders, memberClusterId))?.freshness ?? 'UNKNOWN';
  }

  async seenAtOf(loaders: Loaders, memberClusterId: string): Promise<Date | null> {
    return (await this.speaker(loaders, memberClusterId))?.seenAt ?? null;
  }

  async ageSecondsOf(loaders: Loaders, memberClusterId: string): Promise<number | null> {
    return (await this.speaker(loaders, memberClusterId))?.ageSeconds ?? null;
  }

  private async speaker(loaders: Loaders, memberClusterId: string): Promise<Agent | undefined> {
    return leastFresh(await this.ofMemberCluster(loaders, memberClusterId));
  }
}
