/**
 * The subscription of the fleet's counts: as they are at once, then again when a number that this subscriber sees has
 * changed. A fold is told to all subscribers; each reads its own groups, of the projects it may see, and stays silent when
 * they are what it last sent. So nobody learns from the timing of an answer that something moved in a project of others.
 */
import { Injectable } from '@nestjs/common';
import { AuthenticationService, type Viewer } from '../../platform/auth/index.ts';
import { carrySubscription, unauthenticated, type RequestContext } from '../../platform/graphql/index.ts';
import { FLEET_SUBJECT } from '../agent-link/index.ts';
import { ChangeFeedService, LatestChange } from '../events/index.ts';
import type { FleetHealth } from './fleet-health.model.ts';
import { FleetHealthService, type FleetHealthRequest } from './fleet-health.service.ts';

/** How often an idle subscription looks whether its token still holds. */
const LOOK_AGAIN_MS = 1_000;

@Injectable()
export class WatchFleetHealthService {
  constructor(
    private readonly health: FleetHealthService,
    private readonly feed: ChangeFeedService,
    private readonly authentication: AuthenticationService,
  ) {}

  watch(request: FleetHealthRequest, context: RequestContext): AsyncIterableIterator<FleetHealth> {
    return carrySubscription((signal) => this.follow(request, context, signal));
  }

  private async *follow(
    request: FleetHealthRequest,
    context: RequestContext,
    signal: AbortSignal,
  ): AsyncGenerator<FleetHealth> {
    const latest = new LatestChange();
    const { stop } = await this.feed.watch([FLEET_SUBJECT], latest.put);
    try {
      let sent = '';
      for (let isDue = true; !signal.aborted; isDue = (await latest.take(LOOK_AGAIN_MS, signal)) !== undefined) {
        const viewer = await this.viewerOf(context);
        if (!isDue) continue;
        const health = await this.health.read(request, { viewer, requestId: context.requestId });
        const numbers = JSON.stringify({ ...health, foldedAt: null });
        if (numbers !== sent) yield health;
        sent = numbers;
      }
    } finally {
      stop();
    }
  }

  /** Throws ApiError UNAUTHENTICATED when the token was revoked or has expired since. */
  private async viewerOf(context: RequestContext): Promise<Viewer> {
    const viewer = await this.authentication.authenticate(context.authorization);
    if (!viewer) throw unauthenticated();
    return viewer;
  }
}
