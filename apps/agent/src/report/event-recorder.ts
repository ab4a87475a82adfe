/**
 * Kubernetes Events (events.k8s.io/v1) about RedisClusters. Equal events (object, reason, sentence) are one object: told
 * at once, then counted, and the count is written at most once per FLUSH_INTERVAL_MS. Events are best effort: a failure
 * is logged and forgotten, since nothing may depend on them.
 */
import { randomBytes } from 'node:crypto';
import { hubUidOf } from '#domain';
import type { RedisClusterObject } from '#domain';
import { RESOURCE } from '#kube';
import type { KubeClient } from '#kube';
import type { EventToTell } from './choose-events.ts';
import type { ReportFeed } from './report-feed.ts';

const FLUSH_INTERVAL_MS = 60_000;
/** After this much silence a repeat is news again and gets an object of its own. */
const FORGET_AFTER_MS = 30 * 60_000;
const MAX_REMEMBERED = 1_000;
/**
 * Different events of one object: this many at once, then one each REFILL_MS, as the API machinery's own recorder bounds
 * them. A sentence that changes with each pass would else write to etcd for ever. The hub is told all the same.
 */
const BURST = 25;
const REFILL_MS = 30_000;
/** Limits of events.k8s.io/v1. */
const MAX_NOTE = 1_024;
const MAX_REASON = 128;

export interface EventRecorderSettings {
  readonly client: KubeClient;
  readonly feed: ReportFeed;
  readonly reportingInstance: string;
  readonly nowMs: () => number;
  /** Failures of one namespace come together, one per event, for instance while it is terminating. */
  readonly onFailure: (error: unknown, namespace: string) => void;
}

interface Remembered {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly first: string;
  count: number;
  lastMs: number;
  writtenMs: number;
}

/** MicroTime: RFC 3339 with six digits. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

export class EventRecorder {
  readonly #settings: EventRecorderSettings;
  readonly #remembered = new Map<string, Remembered>();
  /** By the object's uid: how many new events it may still have, and when that was reckoned. */
  readonly #budgets = new Map<string, { left: number; atMs: number }>();

  constructor(settings: EventRecorderSettings) {
    this.#settings = settings;
  }

  /** Tells one event; resolves when it was written, counted or given up. Never rejects. */
  async tell(resource: RedisClusterObject, event: EventToTell): Promise<void> {
    const nowMs = this.#settings.nowMs();
    const text = `${String(resource.metadata.uid)} ${event.severity} ${event.reason} ${event.message}`;
    const known = this.#remembered.get(text);
    const repeat = known !== undefined && nowMs - known.lastMs < FORGET_AFTER_MS;
    const entry = repeat ? known : this.#newEntry(resource, nowMs);
    entry.count += 1;
    entry.lastMs = nowMs;
    this.#remember(text, entry);
    this.#publish(resource, event, entry);
    const isDue = repeat ? nowMs - entry.writtenMs >= FLUSH_INTERVAL_MS : this.#spend(entry.uid, nowMs);
    // One that was never written must be new again when it comes back.
    if (!isDue && !repeat) this.#remembered.delete(text);
    if (!isDue) return;
    entry.writtenMs = nowMs;
    try {
      if (repeat) await this.#raiseCount(entry);
      else await this.#create(resource, event, entry);
    } catch (error) {
      this.#settings.onFailure(error, entry.namespace);
    }
  }

  /** False when the object has had its share. */
  #spend(uid: string, nowMs: number): boolean {
    const known = this.#budgets.get(uid) ?? { left: BURST, atMs: nowMs };
    const left = Math.min(BURST, known.left + (nowMs - known.atMs) / REFILL_MS);
    this.#budgets.delete(uid);
    this.#budgets.set(uid, { left: left < 1 ? left : left - 1, atMs: nowMs });
    const oldest = this.#budgets.keys().next().value;
    if (this.#budgets.size > MAX_REMEMBERED && oldest !== undefined) this.#budgets.delete(oldest);
    return left >= 1;
  }

  #newEntry(resource: RedisClusterObject, nowMs: number): Remembered {
    return {
      name: `${resource.metadata.name}.${nowMs.toString(16)}${randomBytes(4).toString('hex')}`,
      namespace: resource.metadata.namespace ?? '',
      uid: resource.metadata.uid ?? '',
      first: new Date(nowMs).toISOString(),
      count: 0,
      lastMs: nowMs,
      writtenMs: 0,
    };
  }

  /** Newest last, so that the oldest is the one to forget. */
  #remember(text: string, entry: Remembered): void {
    this.#remembered.delete(text);
    this.#remembered.set(text, entry);
    const oldest = this.#remembered.keys().next().value;
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }

  #publish(resource: RedisClusterObject, event: EventToTell, entry: Remembered): void {
    const hubUid = hubUidOf(resource.metadata);
    this.#settings.feed.publishEvent({
      key: { namespace: entry.namespace, name: resource.metadata.name },
      ...(hubUid === undefined ? {} : { hubUid }),
      severity: event.severity,
      reason: event.reason,
      message: event.message,
      first: entry.first,
      last: new Date(entry.lastMs).toISOString(),
      count: entry.count,
    });
  }

  async #create(resource: RedisClusterObject, event: EventToTell, entry: Remembered): Promise<void> {
    await this.#settings.client.create({
      apiVersion: RESOURCE.event.apiVersion,
      kind: RESOURCE.event.kind,
      metadata: { name: entry.name, namespace: entry.namespace },
      eventTime: microTime(entry.lastMs),
      reportingController: 'redis.atoll.dev/agent',
      reportingInstance: this.#settings.reportingInstance.slice(0, 128),
      action: 'Reconcile',
      reason: event.reason.slice(0, MAX_REASON),
      type: event.severity,
      note: event.message.slice(0, MAX_NOTE),
      regarding: {
        apiVersion: resource.apiVersion,
        kind: resource.kind,
        namespace: entry.namespace,
        name: resource.metadata.name,
        uid: resource.metadata.uid,
        resourceVersion: resource.metadata.resourceVersion,
      },
    });
  }

  async #raiseCount(entry: Remembered): Promise<void> {
    await this.#settings.client.patchMerge(RESOURCE.event, entry, {
      series: { count: Math.max(2, entry.count), lastObservedTime: microTime(entry.lastMs) },
    });
  }
}
