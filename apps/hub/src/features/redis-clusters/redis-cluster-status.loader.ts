import type { Clock } from '#domain';
import { Inject, Injectable } from '@nestjs/common';
import { orderByKey, type Loaders } from '../../platform/graphql/index.ts';
import { CLOCK } from '../../platform/lifecycle/time-and-ids.ts';
import { DOCUMENTS, type StatusSummary, toRedisClusterStatus, toStatusSummary } from './redis-cluster-status.mapper.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';

/** Owners of the loaders of the two reads. */
const SUMMARIES = {};
const STATUSES = {};

@Injectable()
export class RedisClusterStatusLoader {
  constructor(
    private readonly repository: RedisClustersRepository,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The last status of an object that the caller may see already: all of it when one of the documents is asked for. */
  async load(loaders: Loaders, hubUid: string, fields: ReadonlySet<string>): Promise<StatusSummary | null> {
    const loader = DOCUMENTS.some((name) => fields.has(name))
      ? this.loaderOf(loaders, STATUSES, (hubUids) => this.repository.readStatuses(hubUids), toRedisClusterStatus)
      : this.loaderOf(loaders, SUMMARIES, (hubUids) => this.repository.readStatusSummaries(hubUids), toStatusSummary);
    return (await loader.load(hubUid)) ?? null;
  }

  private loaderOf<Row extends { readonly hub_uid: string }>(
    loaders: Loaders,
    owner: object,
    read: (hubUids: readonly string[]) => Promise<Row[]>,
    map: (row: Row, nowMs: number) => StatusSummary,
  ): ReturnType<typeof loaders.get<string, StatusSummary | undefined>> {
    return loaders.get<string, StatusSummary | undefined>(owner, async (hubUids) => {
      const rows = await read(hubUids);
      const nowMs = this.clock.nowMs();
      return orderByKey(hubUids, rows, (row) => row.hub_uid).map((row) => row && attempt(() => map(row, nowMs)));
    });
  }
}

/** A row that cannot be mapped is an error of its own object: thrown, it would be one of all that were read with it. */
function attempt<T>(map: () => T): T | Error {
  try {
    return map();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
