/**
 * The subscription of one RedisCluster: its present state at once, then again after each change. Values are always read
 * anew, so that a consumer who was slow for a while sees the newest state and not a queue of old ones; one who missed too
 * much is told so (GAP) and let go. Who is no longer allowed to see it loses it within about a second.
 */
import { Inject, Injectable } from '@nestjs/common';
import { AuthenticationService, mayRead } from '../../platform/auth/index.ts';
import {
  ApiError,
  carrySubscription,
  decodeGlobalId,
  unauthenticated,
  type RequestContext,
} from '../../platform/graphql/index.ts';
import { RUNTIME, type HubRuntime } from '../../platform/lifecycle/hub-runtime.ts';
import {
  ChangeFeedService,
  ChangeLogRepository,
  decodeChangeCursor,
  encodeChangeCursor,
  LatestChange,
  type ChangeCursor,
} from '../events/index.ts';
import type { RedisClusterChange } from './redis-cluster-change.model.ts';
import type { ChangeKind } from './redis-cluster.enums.ts';
import { toRedisCluster } from './redis-cluster.mapper.ts';
import { RedisClustersRepository } from './redis-clusters.repository.ts';

/** How often an idle subscription looks whether its token still holds. */
const LOOK_AGAIN_MS = 1_000;
/** More changes than this behind the consumer: its picture of the past is of no use any more. */
const MAX_MISSED = 1_000;

interface Request {
  readonly id: string;
  readonly after: string | null | undefined;
}
type Start = { readonly kind: ChangeKind; readonly cursor: ChangeCursor } | undefined;

@Injectable()
export class WatchRedisClusterService {
  constructor(
    private readonly repository: RedisClustersRepository,
    private readonly feed: ChangeFeedService,
    private readonly changeLog: ChangeLogRepository,
    private readonly authentication: AuthenticationService,
    @Inject(RUNTIME) private readonly runtime: HubRuntime,
  ) {}

  watch(request: Request, context: RequestContext): AsyncIterableIterator<RedisClusterChange> {
    return carrySubscription((signal) => this.follow(request, context, signal));
  }

  private async *follow(
    request: Request,
    context: RequestContext,
    signal: AbortSignal,
  ): AsyncGenerator<RedisClusterChange> {
    const hubUid = decodeGlobalId('RedisCluster', request.id) ?? '';
    const latest = new LatestChange();
    const subjects = await this.subjectsOf(hubUid);
    const { from, stop } = await this.feed.watch(subjects, latest.put);
    try {
      const start = await this.startOf(subjects, request.after ?? undefined, from);
      const first = start && (await this.read(hubUid, start, context));
      if (first) yield first;
      if (first?.kind !== 'DELETED') yield* this.followChanges(hubUid, latest, context, signal);
    } finally {
      stop();
    }
  }

  private async *followChanges(
    hubUid: string,
    latest: LatestChange,
    context: RequestContext,
    signal: AbortSignal,
  ): AsyncGenerator<RedisClusterChange> {
    for (;;) {
      const pending = await latest.take(LOOK_AGAIN_MS, signal);
      if (signal.aborted) return;
      await this.allowedProjects(context);
      if (!pending) continue;
      const kind = pending.count > MAX_MISSED ? 'GAP' : 'CHANGED';
      const change = await this.read(hubUid, { kind, cursor: pending.change }, context);
      yield change;
      if (change.kind !== 'CHANGED') return;
    }
  }

  /** The object itself, and its member cluster, which tells how fresh its agents are: one line for all that they run. */
  private async subjectsOf(hubUid: string): Promise<readonly string[]> {
    if (hubUid === '') return [];
    const row = await this.repository.find(hubUid);
    return row ? [hubUid, row.member_cluster_id] : [hubUid];
  }

  /** What to send first: the present state, unless the consumer has a cursor after which nothing happened. */
  private async startOf(subjects: readonly string[], after: string | undefined, from: ChangeCursor): Promise<Start> {
    if (after === undefined) return { kind: 'CHANGED', cursor: from };
    const cursor = decodeChangeCursor(this.runtime.identity.hubEpoch, after);
    if (cursor === undefined) throw new ApiError('BAD_USER_INPUT', '"after" is not a cursor of this subscription.');
    if (cursor === 'OTHER_EPOCH' || !(await this.changeLog.reachesBackTo(cursor))) return { kind: 'GAP', cursor: from };
    const change = await this.changeLog.lastChange(subjects, cursor);
    return change && { kind: 'CHANGED', cursor: change };
  }

  private async read(hubUid: string, at: NonNullable<Start>, context: RequestContext): Promise<RedisClusterChange> {
    const mayReadProject = await this.allowedProjects(context);
    const row = hubUid === '' ? undefined : await this.repository.find(hubUid);
    const cursor = encodeChangeCursor(this.runtime.identity.hubEpoch, at.cursor);
    if (!row || !mayReadProject(row.project_id)) return { cursor, kind: 'DELETED', redisCluster: null };
    return { cursor, kind: at.kind, redisCluster: toRedisCluster(row) };
  }

  /** Throws ApiError UNAUTHENTICATED when the token was revoked or has expired since. */
  private async allowedProjects(context: RequestContext): Promise<(projectId: string) => boolean> {
    const viewer = await this.authentication.authenticate(context.authorization);
    if (!viewer) throw unauthenticated();
    return (projectId) => mayRead(viewer, projectId);
  }
}
