import { Injectable, type OnModuleInit } from '@nestjs/common';
import { mayRead, visibleProjects, type Caller } from '../../platform/auth/index.ts';
import {
  buildConnection,
  decodeGlobalId,
  isUuid,
  NodeRegistry,
  readPage,
  type Loaders,
  type NodeType,
  type PageRequest,
} from '../../platform/graphql/index.ts';
import type { RedisClusterConditions } from './redis-cluster-conditions.ts';
import type { RedisClusterRow, SyncFactsCount } from './redis-cluster.entity.ts';
import type { SyncState } from './redis-cluster.enums.ts';
import type { RedisClusterFilter } from './redis-cluster.filter.ts';
import { driftOf, syncOf, toRedisCluster } from './redis-cluster.mapper.ts';
import type { RedisCluster, RedisClusterConnection } from './redis-cluster.model.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';
import { decideSync } from './sync-state.rules.ts';

interface ListRequest {
  readonly first: number | null | undefined;
  readonly after: string | null | undefined;
  readonly filter: RedisClusterFilter;
}

/** Rows read at once while looking for those of one sync state. */
const SCAN_SIZE = 200;
/** No uuid of ours: a filter by an id that is none finds nothing, and says no more. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

@Injectable()
export class RedisClustersService implements OnModuleInit {
  constructor(
    private readonly repository: RedisClustersRepository,
    private readonly nodes: NodeRegistry,
  ) {}

  onModuleInit(): void {
    this.nodes.register('RedisCluster', (key, caller) => this.findByUid(key, caller));
  }

  async find(id: string, caller: Caller): Promise<RedisCluster | null> {
    return this.findByUid(decodeGlobalId('RedisCluster', id) ?? '', caller);
  }

  async list(request: ListRequest, caller: Caller): Promise<RedisClusterConnection> {
    const page = readPage(request.first, request.after, isUuid);
    const conditions = toConditions(request.filter, visibleProjects(caller.viewer));
    const sync = request.filter.sync ?? undefined;
    const rows = sync ? await this.scan(page, conditions, sync) : await this.repository.list(page, conditions);
    const connection = buildConnection(rows, page, { keyOf: (row) => row.hub_uid, map: toRedisCluster });
    const count = (): Promise<number> => (sync ? this.countSync(conditions, sync) : this.repository.count(conditions));
    const countOf = (loaders: Loaders): Promise<number> => loaders.once(this, { conditions, sync }, count);
    return { ...connection, countOf };
  }

  private async findByUid(hubUid: string, caller: Caller): Promise<RedisCluster | null> {
    const row = isUuid(hubUid) ? await this.repository.find(hubUid) : undefined;
    return row && mayRead(caller.viewer, row.project_id) ? toRedisCluster(row) : null;
  }

  /** SQL narrows, the rule decides: there is one rule for sync, and it is not written a second time in SQL. */
  private async scan(
    page: PageRequest,
    conditions: RedisClusterConditions,
    sync: SyncState,
  ): Promise<RedisClusterRow[]> {
    const found: RedisClusterRow[] = [];
    let after = page.after;
    for (;;) {
      const rows = await this.repository.list({ size: SCAN_SIZE, ...(after ? { after } : {}) }, conditions);
      const seen = rows.slice(0, SCAN_SIZE);
      found.push(...seen.filter((row) => syncOf(row, driftOf(row)) === sync));
      if (found.length > page.size || rows.length <= SCAN_SIZE) return found;
      after = seen.at(-1)?.hub_uid;
    }
  }

  /**
   * Counted by facts, each kind of row judged once; only rows in which drift is possible are looked at one by one. Nearly
   * all rows are in sync: those are counted as all but the others.
   */
  private async countSync(conditions: RedisClusterConditions, sync: SyncState): Promise<number> {
    const { maySync: _all, ...others } = conditions;
    const narrowed = { ...others, maySync: sync === 'IN_SYNC' ? 'NOT_PLAINLY_IN_SYNC' : sync } as const;
    const facts = await this.repository.countFacts(narrowed);
    const plain = facts.filter((fact) => !fact.mayDrift && decideSync({ ...fact, driftCount: 0 }) === sync);
    const drifting = facts.some((fact) => fact.mayDrift)
      ? (await this.scan({ size: Number.MAX_SAFE_INTEGER }, { ...narrowed, mayDrift: true }, sync)).length
      : 0;
    const found = sumOf(plain) + drifting;
    return sync === 'IN_SYNC' ? (await this.repository.count(others)) - sumOf(facts) + found : found;
  }
}

const sumOf = (facts: readonly SyncFactsCount[]): number => facts.reduce((sum, fact) => sum + fact.count, 0);

function toConditions(filter: RedisClusterFilter, projects: 'ALL' | readonly string[]): RedisClusterConditions {
  const id = (type: NodeType, given: string | null | undefined): string | undefined =>
    given ? (decodeGlobalId(type, given) ?? NOBODY) : undefined;
  const wanted = {
    memberClusterId: id('MemberCluster', filter.memberClusterId),
    projectId: id('Project', filter.projectId),
    namespace: filter.namespace ?? undefined,
    name: filter.name ?? undefined,
    phase: filter.phase ?? undefined,
    mode: filter.mode ?? undefined,
    freshness: filter.freshness ?? undefined,
    maySync: filter.sync ?? undefined,
  };
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return { projects, ...(Object.fromEntries(given) as Omit<RedisClusterConditions, 'projects'>) };
}
