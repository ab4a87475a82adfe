/** Tells what a pass saw and did: status when it changed, Events, the feed of the link. Decides nothing. */
import type { Clock, ObjectKey, Plan, PlanResult, RedisClusterObject, RedisClusterStatus } from '#domain';
import { chooseEvents } from './choose-events.ts';
import type { EventRecorder } from './event-recorder.ts';
import { mergeStatus } from './merge-status.ts';
import type { StatusFeed } from './status-feed.ts';
import type { StatusWriter } from './write-status.ts';

export interface ReporterSettings {
  readonly writer: StatusWriter;
  readonly events: EventRecorder;
  readonly feed: StatusFeed;
  readonly clock: Clock;
  /** The fence: false when the Lease is too old to write. */
  readonly mayWrite: () => boolean;
}

export interface PassToReport {
  readonly resource: RedisClusterObject;
  readonly plan: Plan;
  readonly result: PlanResult;
  readonly failuresBefore: number;
}

export class Reporter {
  readonly #settings: ReporterSettings;

  constructor(settings: ReporterSettings) {
    this.#settings = settings;
  }

  /** Rejects with a KubeError when the status could not be written. A finished deletion has no status left to write. */
  async report(pass: PassToReport): Promise<void> {
    const { writer, clock, mayWrite } = this.#settings;
    const { resource, plan, result } = pass;
    const last = writer.lastOf(resource);
    const now = new Date(clock.nowMs()).toISOString();
    const status = mergeStatus({ ...pass, last, now });
    if (!mayWrite()) return;
    if (!result.done.some((action) => action.kind === 'RemoveFinalizer')) {
      await writer.write(resource, status);
      this.#publish(resource, status);
    }
    await this.#tellEvents(resource, last, status, { plan, result });
  }

  /** A RedisCluster is gone: the link is told, and its memory freed. */
  reportGone(key: ObjectKey, uid: string | undefined): void {
    if (uid !== undefined) this.#settings.writer.forget(uid);
    this.#settings.feed.publish({ key });
  }

  #publish(resource: RedisClusterObject, status: RedisClusterStatus): void {
    const { namespace = '', name } = resource.metadata;
    this.#settings.feed.publish({ key: { namespace, name }, resource: { ...resource, status } });
  }

  async #tellEvents(
    resource: RedisClusterObject,
    before: RedisClusterStatus | undefined,
    after: RedisClusterStatus,
    pass: { readonly plan: Plan; readonly result: PlanResult },
  ): Promise<void> {
    for (const event of chooseEvents(before, after, pass.result)) await this.#settings.events.tell(resource, event);
  }
}
