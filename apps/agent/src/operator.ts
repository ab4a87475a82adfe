/**
 * Wires the operator half of the agent: cache → queue → pass → writers. It runs only in the process that holds the
 * Lease; the fence is handed to every writer, since having held the Lease a moment ago proves nothing.
 */
import { randomInt } from 'node:crypto';
import { asDataSetId, formatObjectKey, objectKeyOf, parseObjectKey } from '#domain';
import type { ObjectKey, Plan, PlanResult, RedisClusterObject, RedisClusterSnapshot } from '#domain';
import { RESOURCE, readCrdState } from '#kube';
import { describeOwner, nameObjects } from '#manifests';
import { DEFAULT_PLANNER_POLICY, planRedisCluster } from '#planner';
import { FencedError, NOT_OWNER, RefusedError, claimNamespace, executePlan } from './act/index.ts';
import { ControlLoop, DisruptionBook, resyncPauseMs } from './loop/index.ts';
import type { PassOutcome } from './loop/index.ts';
import {
  ClaimReader,
  CredentialsObserver,
  LinkPool,
  MemberCache,
  Observer,
  STALE_AFTER_MS,
  SecretReader,
  readHeardAtMs,
} from './observe/index.ts';
import type { MemberCacheSettings, ResourceChange } from './observe/index.ts';
import { aclExpectation } from './acl-expectation.ts';
import { FirstLook } from './first-look.ts';
import { Operations } from './operations.ts';
import { warnSparingly } from './warn-sparingly.ts';
import { dataSetAccess, namesOf } from './read-data-set.ts';
import { NamespaceTenure } from './namespace-tenure.ts';
import type { Log } from './platform/index.ts';
import { RedisExporter } from './redis-exporter.ts';
import { EventRecorder, PodReadings, ReportFeed, Reporter, StatusWriter } from './report/index.ts';

export interface OperatorSettings extends Pick<MemberCacheSettings, 'client' | 'scope' | 'namespaces' | 'clock'> {
  /** For Events: which pod speaks. */
  readonly podName: string;
  /** Own Lease younger than two thirds of its duration (03 rule 15). */
  readonly mayWrite: () => boolean;
  readonly log: Log;
  readonly onPass: (outcome: PassOutcome, durationMs: number) => void;
  /** How long a key that was due waited for its turn. */
  readonly onQueueWait?: (waitedMs: number) => void;
  /** For tests: how long old passwords stay valid, whatever a spec says. */
  readonly gracePeriodMs?: number;
}

/** Passes at once: they mostly wait for answers, so more than one a core; each holds one snapshot. */
const CONCURRENCY = 8;

const HANDED_OVER = 'The namespace has another owner now (ConfigMap atoll-scope); it goes on where this agent stopped.';

const random = (): number => randomInt(2 ** 32) / 2 ** 32;
const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Operator {
  /** Events and moving numbers, for the link. */
  readonly feed = new ReportFeed();
  /** What the last passes saw of each pod, for Prometheus. */
  readonly readings = new PodReadings();
  readonly exporter: RedisExporter;
  readonly cache: MemberCache;
  readonly events: EventRecorder;
  readonly #settings: OperatorSettings;
  readonly #abort = new AbortController();
  readonly #listeners = new Set<(change: ResourceChange) => void>();
  readonly #secrets: SecretReader;
  readonly #links: LinkPool;
  readonly #reporter: Reporter;
  readonly #operations: Operations;
  readonly #disruptions = new DisruptionBook();
  readonly #loop: ControlLoop;
  readonly #tenure: NamespaceTenure;
  readonly #firstLook: FirstLook;

  /** Starts watching and acting at once. */
  constructor(settings: OperatorSettings) {
    this.#settings = settings;
    this.#secrets = new SecretReader(settings.client, settings.clock);
    this.events = this.#makeEvents();
    this.#reporter = this.#makeReporter(this.events);
    this.#links = new LinkPool({
      onEnd: (owner, pod, end) => {
        settings.log('debug', 'connection ended by the other side', { redisCluster: owner, pod, end });
        this.#loop.wakeAtOnce(owner);
      },
      onSentinelNews: (owner, pod, channel) => {
        settings.log('debug', 'news of a Sentinel', { redisCluster: owner, pod, channel });
        this.#loop.wake(owner);
      },
      nowMs: () => settings.clock.nowMs(),
    });
    this.#tenure = new NamespaceTenure({
      ...settings,
      recordOf: (namespace) => this.cache.scopeRecord(namespace),
      wake: (namespace) => this.cache.wakeNamespace(namespace),
    });
    this.cache = this.#makeCache();
    this.#operations = this.#makeOperations(this.events);
    const ownsNamespace = (namespace: string): boolean => this.#tenure.owns(namespace);
    this.exporter = new RedisExporter({ cache: this.cache, links: this.#links, ownsNamespace, clock: settings.clock });
    this.#loop = this.#makeLoop();
    this.#firstLook = new FirstLook({ cache: this.cache, wake: (key) => this.#loop.wake(key), log: settings.log });
  }

  get queueDepth(): number {
    return this.#loop.queueDepth;
  }

  /** RedisClusters in namespaces that this agent owns. */
  ownedResources(): RedisClusterObject[] {
    return this.cache.resources().filter(({ metadata }) => this.#tenure.owns(metadata.namespace ?? ''));
  }

  /** Each change of a RedisCluster, of its status too. Returns the end of the subscription. */
  onResource(listener: (change: ResourceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the passes under way, then watches and connections. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    this.#tenure.stop();
    this.#abort.abort();
    this.#links.closeAll();
  }

  #makeEvents(): EventRecorder {
    const { client, clock, podName, log } = this.#settings;
    const sparingly = warnSparingly(log, clock);
    return new EventRecorder({
      client,
      feed: this.feed,
      reportingInstance: podName,
      nowMs: () => clock.nowMs(),
      onFailure: (error, namespace) =>
        sparingly(namespace, 'event not written', { namespace, error: describeError(error) }),
    });
  }

  #makeReporter(events: EventRecorder): Reporter {
    const { client, clock, mayWrite, log } = this.#settings;
    return new Reporter({
      writer: new StatusWriter({ client, clock, warn: (message, fields) => log('warn', message, fields) }),
      events,
      feed: this.feed,
      readings: this.readings,
      clock,
      mayWrite: (namespace) => mayWrite() && (namespace === undefined || !this.#tenure.isForeign(namespace)),
    });
  }

  #makeCache(): MemberCache {
    return new MemberCache({
      ...this.#watching(),
      hashOf: dataSetAccess.hashOf,
      onResource: (change) => this.#resourceChanged(change),
      onScope: (namespace) => this.#tenure.changed(namespace),
    });
  }

  #makeOperations(events: EventRecorder): Operations {
    const { scope, mayWrite } = this.#settings;
    return new Operations({
      ...this.#watching(),
      mayWrite,
      events,
      // A namespace without a RedisCluster may be nobody's yet: then it is the cluster-wide agent that answers.
      ownsNamespace: (namespace) =>
        this.cache.scopeRecord(namespace) === undefined ? scope.kind === 'CLUSTER' : this.#tenure.owns(namespace),
    });
  }

  /** What every picture of Kubernetes is made with. */
  #watching(): Omit<MemberCacheSettings, 'hashOf' | 'onResource' | 'onScope'> {
    const { client, scope, namespaces = [], clock, log } = this.#settings;
    const sparingly = warnSparingly(log, clock);
    const onFailure = (kind: string, error: unknown, retryInMs: number): void =>
      sparingly(`watch ${kind}`, 'watch failed', { kind, error: describeError(error), retryInMs });
    const common = { client, scope, namespaces, clock, signal: this.#abort.signal };
    return { ...common, onWake: (key) => this.#loop.wake(key), onFailure };
  }

  #makeLoop(): ControlLoop {
    const { client, scope, clock, mayWrite, log } = this.#settings;
    const sparingly = warnSparingly(log, clock);
    const observer = new Observer({
      cache: this.cache,
      operations: this.#operations.cache,
      secrets: this.#secrets,
      claims: new ClaimReader(client),
      links: this.#links,
      access: dataSetAccess,
      ownsNamespace: (namespace) => this.#tenure.owns(namespace),
      clock,
      readHeardAtMs: (node) => (scope.kind === 'CLUSTER' ? readHeardAtMs(client, node) : Promise.resolve(undefined)),
      readDefinitionTerminates: async () => {
        const { kind } = await readCrdState(client, RESOURCE.redisCluster);
        return kind === 'TERMINATING' || kind === 'ABSENT';
      },
    });
    const credentials = new CredentialsObserver({ secrets: this.#secrets, links: this.#links, access: dataSetAccess });
    return new ControlLoop({
      parts: {
        observe: async (key) => {
          const seen = await observer.observe(key);
          if (seen === undefined) return undefined;
          return credentials.add({ ...seen, resource: this.#reporter.complete(seen.resource) });
        },
        claimNamespace: async (namespace) => (mayWrite() ? claimNamespace(client, namespace, scope) : 'OWNED'),
        plan: (snapshot) => this.#plan(snapshot),
        execute: (plan, snapshot) => this.#execute(plan, snapshot),
        report: async (pass) => {
          await this.#operations.report(pass);
          await this.#reporter.report(pass);
        },
        tellMissing: (key) => this.#operations.tellMissing(key),
      },
      concurrency: CONCURRENCY,
      resyncMs: () => resyncPauseMs(this.cache.countResources()),
      random,
      enter: (key) => this.#tenure.enter(key),
      mayAct: (key) => mayWrite() && !this.cache.isStale(STALE_AFTER_MS, parseObjectKey(key).namespace),
      onPass: (outcome, durationMs) => this.#tellPass(outcome, durationMs),
      ...(this.#settings.onQueueWait === undefined ? {} : { onQueueWait: this.#settings.onQueueWait }),
      onPassFailed: (key, error, retryInMs) => {
        const redisCluster = formatObjectKey(key);
        this.#firstLook.looked(redisCluster);
        sparingly(`pass ${redisCluster}`, 'pass failed', { redisCluster, error: describeError(error), retryInMs });
      },
    });
  }

  #tellPass(outcome: PassOutcome, durationMs: number): void {
    const { log, onPass } = this.#settings;
    log('debug', 'pass', {
      redisCluster: formatObjectKey(outcome.key),
      reasons: outcome.plan?.trail.map(({ reason }) => reason),
      done: outcome.result.done.map(({ kind }) => kind),
      failure: outcome.result.failure?.message,
      durationMs: Math.round(durationMs),
    });
    this.#firstLook.looked(formatObjectKey(outcome.key));
    onPass(outcome, durationMs);
  }

  #resourceChanged(change: ResourceChange): void {
    if (change.now === undefined) this.#forget(change.key, change.before);
    for (const listener of this.#listeners) listener(change);
  }

  /** Nothing of an object that is gone is kept in memory. Its connections are closed by the pass that finds it gone. */
  #forget(key: ObjectKey, last: RedisClusterObject | undefined): void {
    this.#reporter.forget(key, last?.metadata.uid);
    for (const next of this.#disruptions.forget(formatObjectKey(key))) this.#loop.wake(next);
    if (last === undefined) return;
    const { credentialsSecret, connectionSecret } = namesOf(last);
    for (const name of [credentialsSecret, connectionSecret]) this.#secrets.forget({ ...key, name });
  }

  /** Synchronous from the count to the note: no other pass can take the same turn in between. */
  #plan(snapshot: RedisClusterSnapshot): Plan {
    const key = formatObjectKey(objectKeyOf(snapshot.resource));
    const disruptionsElsewhere = this.#disruptions.countElsewhere(key, this.cache.resources());
    const { clock, gracePeriodMs } = this.#settings;
    const plan = planRedisCluster({
      snapshot: { ...snapshot, disruptionsElsewhere },
      nowMs: clock.nowMs(),
      policy: { ...DEFAULT_PLANNER_POLICY, ...(gracePeriodMs === undefined ? {} : { gracePeriodMs }) },
    });
    for (const next of this.#disruptions.note(key, plan)) this.#loop.wake(next);
    return plan;
  }

  #execute(plan: Plan, { resource }: RedisClusterSnapshot): Promise<PlanResult> {
    const { client, mayWrite } = this.#settings;
    const key = objectKeyOf(resource);
    const ownerKey = formatObjectKey(key);
    const dataSetId = asDataSetId(plan.status.dataSetId);
    return executePlan(this.#tenure.restrain(ownerKey, plan), {
      client,
      resource,
      namespace: key.namespace,
      owner: describeOwner({ ...key, dataSetId, renderVersion: plan.status.renderVersion }),
      names: nameObjects(key.name, dataSetId),
      assertMayWrite: () => {
        if (!mayWrite()) throw new FencedError();
        if (this.#tenure.isForeign(key.namespace)) throw new RefusedError(NOT_OWNER, HANDED_OVER);
      },
      findRedis: (pod) => this.#links.findRedis(ownerKey, pod),
      findSentinel: (pod) => this.#links.findSentinel(ownerKey, pod),
      aclExpectation,
      forgetSecret: (name) => this.#secrets.forget({ namespace: key.namespace, name }),
    });
  }
}
