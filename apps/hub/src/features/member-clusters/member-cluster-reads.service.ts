import type { Clock } from '#domain';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { hasFleetRole, type Caller } from '../../platform/auth/index.ts';
import {
  ApiError,
  buildConnection,
  decodeGlobalId,
  isUuid,
  NodeRegistry,
  readPage,
  type Loaders,
} from '../../platform/graphql/index.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { toAgent, toLocalObject, toMemberCluster } from './member-cluster.mapper.ts';
import type { Agent, LocalObject, MemberCluster, MemberClusterConnection } from './member-cluster.model.ts';
import { MemberClusterReadsRepository } from './member-cluster-reads.repository.ts';

/** Member clusters are seen by everybody who has a role anywhere: one has to be named to create something in it. */
@Injectable()
export class MemberClusterReadsService implements OnModuleInit {
  constructor(
    private readonly repository: MemberClusterReadsRepository,
    private readonly nodes: NodeRegistry,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.nodes.register('MemberCluster', (key, caller) => this.findById(key, caller));
    this.nodes.register('Agent', (key, caller) => this.findAgent(key, caller));
  }

  async find(id: string, caller: Caller): Promise<MemberCluster | null> {
    return this.findById(decodeGlobalId('MemberCluster', id) ?? '', caller);
  }

  async list(
    first: number | null | undefined,
    after: string | null | undefined,
    caller: Caller,
  ): Promise<MemberClusterConnection> {
    const page = readPage(first, after, isUuid);
    const rows = mayLook(caller) ? await this.repository.list(page) : [];
    const connection = buildConnection(rows, page, { keyOf: (row) => row.id, map: toMemberCluster });
    const countOf = async (loaders: Loaders): Promise<number> =>
      mayLook(caller) ? loaders.once(this, {}, () => this.repository.count()) : 0;
    return { ...connection, countOf };
  }

  /** Throws ApiError FORBIDDEN: what no project owns is for those who see the whole fleet. */
  async localObjects(memberClusterId: string, caller: Caller): Promise<LocalObject[]> {
    if (!hasFleetRole(caller.viewer, 'VIEWER')) {
      throw new ApiError('FORBIDDEN', 'Objects that no project owns need a role over the whole fleet.');
    }
    const id = decodeGlobalId('MemberCluster', memberClusterId);
    const rows = id === undefined ? [] : await this.repository.readLocalObjects(id);
    const nowMs = this.clock.nowMs();
    return rows.map((row) => toLocalObject(row, nowMs));
  }

  private async findById(id: string, caller: Caller): Promise<MemberCluster | null> {
    const [row] = isUuid(id) && mayLook(caller) ? await this.repository.readMemberClusters([id]) : [];
    return row ? toMemberCluster(row) : null;
  }

  private async findAgent(id: string, caller: Caller): Promise<Agent | null> {
    const [row] = isUuid(id) && mayLook(caller) ? await this.repository.readAgents([id]) : [];
    return row ? toAgent(row, this.clock.nowMs()) : null;
  }
}

const mayLook = ({ viewer }: Caller): boolean => viewer.bindings.length > 0;
