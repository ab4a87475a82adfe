/**
 * Keeps this agent's hands off a namespace that is another's, and hands one over at a safe point: no pass under way in it,
 * and none of its RedisClusters in the middle of a disruption that this agent began. While it leaves, only passes that
 * finish such a disruption go on, and none begins another; after FINISH_WITHIN_MS it leaves all the same, since every step can be taken up by
 * whoever comes next, and a data set that nobody can mend must not bind its owner for ever.
 *
 * Invariants: from the moment the hand-over is sent nothing of this process writes in that namespace, whatever the watch
 * still shows; a new owner waits SETTLE_MS, so that its picture holds the last writes of the one before.
 */
import { formatObjectKey, formatScopeOwner } from '#domain';
import type { Clock, Phase, Plan, Scope, ScopeRecord } from '#domain';
import { isKubeError } from '#kube';
import type { KubeClient } from '#kube';
import { judgeTenure } from '#planner';
import { handOverNamespace, readScopeRecord, requestNamespace } from './act/index.ts';
import type { PassOutcome } from './loop/index.ts';
import type { Log } from './platform/index.ts';

export interface NamespaceTenureSettings {
  readonly client: KubeClient;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly log: Log;
  /** The fence of the Lease. */
  readonly mayWrite: () => boolean;
  /** By the cache. */
  readonly recordOf: (namespace: string) => ScopeRecord | undefined;
  /** Something about this namespace is to be looked at anew. */
  readonly wake: (namespace: string) => void;
}

const FINISH_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 500;
const SETTLE_MS = 1_000;
const CALM: ReadonlySet<Phase> = new Set<Phase>(['Ready', 'ActionRequired', 'SpecRejected', 'Suspended', 'Hibernated']);

interface Leaving {
  readonly sinceMs: number;
  /** The hand-over may be at the server already. */
  sent: boolean;
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

export class NamespaceTenure {
  readonly #settings: NamespaceTenureSettings;
  readonly #self: string;
  /** Passes under way, by namespace. */
  readonly #passes = new Map<string, number>();
  /** RedisClusters that a disruption of ours has not left calm again, by `namespace/name`. */
  readonly #disturbed = new Set<string>();
  readonly #leaving = new Map<string, Leaving>();
  /** Namespace → version of the record by which we gave it away. */
  readonly #handedOver = new Map<string, bigint>();
  readonly #owners = new Map<string, string>();
  readonly #settlingUntilMs = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #hasAsked = false;
  #stopped = false;

  constructor(settings: NamespaceTenureSettings) {
    this.#settings = settings;
    this.#self = formatScopeOwner(settings.scope);
  }

  /** True when plans of this agent are carried out there. */
  owns(namespace: string): boolean {
    const settles = (this.#settlingUntilMs.get(namespace) ?? 0) > this.#settings.clock.monotonicMs();
    return this.#record(namespace)?.owner === this.#self && !settles && !this.isForeign(namespace);
  }

  /** True when another agent may be acting there: nothing may be written. False also where nobody is the owner. */
  isForeign(namespace: string): boolean {
    if (this.#leaving.get(namespace)?.sent === true || this.#handedOver.has(namespace)) return true;
    const record = this.#record(namespace);
    return record !== undefined && record.owner !== this.#self;
  }

  /** Call before a pass: the function to call after it, or undefined when it must not begin now. */
  enter(key: string): ((outcome: PassOutcome | undefined) => void) | undefined {
    const namespace = namespaceOf(key);
    const leaving = this.#leaving.get(namespace);
    if (leaving !== undefined && (leaving.sent || !this.#disturbed.has(key))) return undefined;
    this.#passes.set(namespace, (this.#passes.get(namespace) ?? 0) + 1);
    return (outcome) => {
      this.#passes.set(namespace, (this.#passes.get(namespace) ?? 1) - 1);
      if (outcome !== undefined) this.#noteDisruption(outcome);
      if (this.#leaving.has(namespace)) this.changed(namespace);
    };
  }

  /**
   * The plan without what may not begin any more. A plan that would begin a disruption has none under way: that is the
   * safe point, and whoever comes next begins it.
   */
  restrain(key: string, plan: Plan): Plan {
    if (!this.#leaving.has(namespaceOf(key))) return plan;
    const cut = plan.actions.findIndex((action) => action.disruptive);
    if (cut === -1) return plan;
    this.#disturbed.delete(key);
    return { ...plan, actions: plan.actions.slice(0, cut) };
  }

  /** The record of this namespace may have changed. */
  changed(namespace: string): void {
    const record = this.#settings.recordOf(namespace);
    this.#noteOwner(namespace, record);
    if (record === undefined || this.#stopped) return;
    const { scope } = this.#settings;
    const tenure = judgeTenure({ record, scope, namespace, hasAsked: this.#hasAsked });
    if (tenure.kind === 'HAND_OVER' && !this.#handedOver.has(namespace)) void this.#leave(namespace, record, tenure.to);
    else if (this.#leaving.get(namespace)?.sent === false) {
      this.#leaving.delete(namespace);
      this.#settings.wake(namespace);
    }
    if (tenure.kind === 'ASK') void this.#ask(namespace, record);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #record(namespace: string): ScopeRecord | undefined {
    return this.#settings.recordOf(namespace);
  }

  #noteOwner(namespace: string, record: ScopeRecord | undefined): void {
    const given = this.#handedOver.get(namespace);
    if (given !== undefined && (record === undefined || versionOf(record) >= given)) this.#handedOver.delete(namespace);
    const before = this.#owners.get(namespace);
    if (record === undefined) this.#owners.delete(namespace);
    else this.#owners.set(namespace, record.owner);
    if (before === undefined || before === record?.owner || record?.owner !== this.#self) return;
    this.#settings.log('info', 'namespace taken over', { namespace, from: before });
    this.#settlingUntilMs.set(namespace, this.#settings.clock.monotonicMs() + SETTLE_MS);
    this.#later(`settle ${namespace}`, SETTLE_MS + 1, () => {
      this.#settlingUntilMs.delete(namespace);
      this.#settings.wake(namespace);
    });
  }

  #noteDisruption({ key, plan, result, seen }: PassOutcome): void {
    const text = formatObjectKey(key);
    if (result.done.some((action) => action.disruptive)) this.#disturbed.add(text);
    else if (seen === 'GONE' || (plan !== undefined && CALM.has(plan.status.phase))) this.#disturbed.delete(text);
  }

  async #leave(namespace: string, record: ScopeRecord, to: string): Promise<void> {
    const { clock, log, mayWrite } = this.#settings;
    const known = this.#leaving.get(namespace);
    const leaving = known ?? { sinceMs: clock.monotonicMs(), sent: false };
    this.#leaving.set(namespace, leaving);
    if (known === undefined) log('info', 'namespace is asked for; finishing what is under way', { namespace, to });
    if (leaving.sent) return;
    if (!mayWrite() || !this.#isAtSafePoint(namespace, leaving)) return this.#lookAgain(namespace);
    leaving.sent = true;
    await this.#send(namespace, record, to);
  }

  /**
   * Again and again with the same precondition until the outcome is known, with nothing written there meanwhile: a
   * request without an answer may still be carried out.
   */
  async #send(namespace: string, record: ScopeRecord, to: string): Promise<void> {
    const { client, log } = this.#settings;
    try {
      this.#gaveAway(namespace, BigInt(await handOverNamespace(client, namespace, record, to)));
      log('info', 'namespace handed over', { namespace, to });
    } catch (error) {
      log('warn', 'hand-over not confirmed yet', { namespace, to, error });
      if (!isKubeError(error) || !error.isConflict()) return this.#retrySending(namespace, record, to);
      // Somebody wrote in between, so that our request can never be carried out any more; or it was.
      const live = await readScopeRecord(client, namespace).catch(() => 'UNKNOWN' as const);
      if (live === 'UNKNOWN') return this.#retrySending(namespace, record, to);
      if (live !== undefined && live.owner !== this.#self) return this.#gaveAway(namespace, versionOf(live));
      this.#leaving.delete(namespace);
      this.#lookAgain(namespace);
    }
  }

  #gaveAway(namespace: string, version: bigint): void {
    this.#handedOver.set(namespace, version);
    this.#leaving.delete(namespace);
    this.#settings.wake(namespace);
  }

  #retrySending(namespace: string, record: ScopeRecord, to: string): void {
    this.#later(`send ${namespace}`, SETTLE_MS, () => void this.#send(namespace, record, to));
  }

  #isAtSafePoint(namespace: string, { sinceMs }: Leaving): boolean {
    if ((this.#passes.get(namespace) ?? 0) > 0) return false;
    const disturbed = [...this.#disturbed].some((key) => namespaceOf(key) === namespace);
    return !disturbed || this.#settings.clock.monotonicMs() - sinceMs >= FINISH_WITHIN_MS;
  }

  async #ask(namespace: string, record: ScopeRecord): Promise<void> {
    const { client, log, mayWrite } = this.#settings;
    if (!mayWrite()) return this.#lookAgain(namespace);
    this.#hasAsked = true;
    try {
      await requestNamespace(client, namespace, record, this.#self);
      log('info', 'asked for the namespace', { namespace, owner: record.owner });
    } catch (error) {
      this.#hasAsked = false;
      log('warn', 'request for the namespace not written', { namespace, error });
      this.#lookAgain(namespace);
    }
  }

  #lookAgain(namespace: string): void {
    this.#later(`look ${namespace}`, LOOK_AGAIN_MS, () => this.changed(namespace));
  }

  #later(name: string, afterMs: number, act: () => void): void {
    if (this.#stopped) return;
    clearTimeout(this.#timers.get(name));
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      act();
    }, afterMs);
    this.#timers.set(name, timer);
  }
}

/** Resource versions of one resource are whole numbers that only grow (KEP-5504). */
const versionOf = ({ resourceVersion }: ScopeRecord): bigint =>
  /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
