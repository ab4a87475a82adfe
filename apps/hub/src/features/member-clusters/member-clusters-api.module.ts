import { Module } from '@nestjs/common';
import { GraphqlApiModule } from '../../platform/graphql/index.ts';
import { AuditModule } from '../audit/index.ts';
import { AgentLoader } from './agent.loader.ts';
import { EnrolmentMutationsService } from './enrolment-mutations.service.ts';
import { MemberClustersService } from './member-clusters.service.ts';
import { MemberClusterFieldsResolver } from './member-cluster-fields.resolver.ts';
import { MemberClusterLoader } from './member-cluster.loader.ts';
import { MemberClusterReadsRepository } from './member-cluster-reads.repository.ts';
import { MemberClusterReadsService } from './member-cluster-reads.service.ts';
import { AgentResolver, MemberClusterConnectionResolver, MemberClustersResolver } from './member-clusters.resolver.ts';
import { PresentMemberClusterService } from './present-member-cluster.service.ts';

@Module({
  imports: [GraphqlApiModule, AuditModule],
  providers: [
    MemberClustersService,
    EnrolmentMutationsService,
    PresentMemberClusterService,
    MemberClusterReadsRepository,
    MemberClusterReadsService,
    MemberClusterLoader,
    AgentLoader,
    MemberClustersResolver,
    MemberClusterConnectionResolver,
    MemberClusterFieldsResolver,
    AgentResolver,
  ],
  exports: [MemberClusterLoader],
})
export class MemberClustersApiModule {}
