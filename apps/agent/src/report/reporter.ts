/** Tells what a pass saw and did: status when it changed, Events, the feed of the link. Decides nothing. */
import type {
  Clock,
  ObjectKey,
  Plan,
  PlanResult,
  RedisClusterObject,
  RedisClusterSnapshot,
  RedisClusterStatus,
} from '#domain';
import { chooseEvents } from './choose-events.ts';
import type { EventRecorder } from './event-recorder.ts';
import { mergeStatus } from './merge-status.ts';
import type { PodReadings } from './pod-readings.ts';
import { numbersIn } from './report-feed.ts';
import type { ReportFeed } from './report-feed.ts';
import type { StatusWriter } from './write-status.ts';

/** An owner that is there has written a status long before. */
const UNATTENDED_AFTER_MS = 60_000;

export interface ReporterSettings {
  readonly writer: StatusWriter<RedisClusterStatus>;
  readonly events: EventRecorder;
  readonly feed: ReportFeed;
  /** For Prometheus; absent where nobody asks. */
  readonly readings?: PodReadings;
  readonly clock: Clock;
  /** The fence: false when the Lease is too old to write, or the namespace, if one is named, is another agent's. */
  readonly mayWrite: (namespace?: string) => boolean;
}

export interface PassToReport {
  readonly snapshot: RedisClusterSnapshot;
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
    const { plan, result, failuresBefore } = pass;
    const { resource, ownsNamespace } = pass.snapshot;
    const { namespace = '', name } = resource.metadata;
    this.#settings.readings?.keep({ namespace, name }, pass.snapshot);
    if (!ownsNamespace) return this.#reportUnattended(pass);
    const last = writer.lastOf(resource);
    const now = new Date(clock.nowMs()).toISOString();
    const status = mergeStatus({ resource, last, plan, result, failuresBefore, now });
    this.#settings.feed.keepNumbers({ namespace, name }, numbersIn(pass.snapshot));
    if (!mayWrite(namespace)) return;
    if (!result.done.some((action) => action.kind === 'RemoveFinalizer')) await writer.write(resource, status);
    await this.#tellEvents(resource, last, status, result);
  }

  /** With what an older definition could not store of the last status. */
  complete(resource: RedisClusterObject): RedisClusterObject {
    return this.#settings.writer.complete(resource);
  }

  /** A RedisCluster is gone: what is remembered of it goes too. */
  forget(key: ObjectKey, uid: string | undefined): void {
    if (uid !== undefined) this.#settings.writer.forget(uid);
    this.#settings.feed.keepNumbers(key, undefined);
    this.#settings.readings?.forget(key);
  }

  /** The status belongs to the owner of the namespace. If that one never writes any, a person is told why. */
  async #reportUnattended({ snapshot: { resource }, plan }: PassToReport): Promise<void> {
    const { clock, mayWrite, events, writer, feed } = this.#settings;
    // Of Redis only the owner knows the numbers; ours are of before the hand-over.
    feed.keepNumbers({ namespace: resource.metadata.namespace ?? '', name: resource.metadata.name }, undefined);
    // The owner writes newer ones; what we wrote before it must not be taken for the newest when we own it again.
    writer.forget(resource.metadata.uid ?? '');
    const ageMs = clock.nowMs() - Date.parse(resource.metadata.creationTimestamp ?? '');
    const [gate] = plan.trail;
    if (resource.status !== undefined || !(ageMs > UNATTENDED_AFTER_MS) || gate === undefined || !mayWrite()) return;
    await events.tell(resource, { severity: 'Warning', reason: gate.reason, message: gate.message });
  }

  async #tellEvents(
    resource: RedisClusterObject,
    before: RedisClusterStatus | undefined,
    after: RedisClusterStatus,
    result: PlanResult,
  ): Promise<void> {
    for (const event of chooseEvents(before, after, result)) await this.#settings.events.tell(resource, event);
  }
}
