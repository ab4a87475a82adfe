/**
 * The RedisOperations of this agent: their picture, and what is told of them after a pass, or without one when the
 * RedisCluster that they name is not there. Nothing is told where another agent owns the namespace.
 */
import { formatObjectKey } from '#domain';
import type { Clock, ObjectKey, Plan, PlanResult, RedisClusterSnapshot, Scope } from '#domain';
import type { KubeClient } from '#kube';
import { chooseHistory, judgeOrphans } from '#planner';
import { OperationCache } from './observe/index.ts';
import { OperationReporter } from './report/index.ts';
import type { EventRecorder } from './report/index.ts';

export interface OperationsSettings {
  readonly client: KubeClient;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly events: EventRecorder;
  readonly mayWrite: () => boolean;
  /** May this agent speak in it now. */
  readonly ownsNamespace: (namespace: string) => boolean;
  readonly onWake: (key: string) => void;
  readonly onFailure: (kind: string, error: unknown, retryInMs: number) => void;
}

interface PassToTell {
  readonly snapshot: RedisClusterSnapshot;
  readonly plan: Plan;
  readonly result: PlanResult;
}

/** Soon enough for `notAfter` and for giving up, which are matters of minutes. */
const MISSING_RECHECK_MS = 10_000;

export class Operations {
  readonly cache: OperationCache;
  readonly #settings: OperationsSettings;
  readonly #reporter: OperationReporter;

  constructor(settings: OperationsSettings) {
    this.#settings = settings;
    this.cache = new OperationCache(settings);
    this.#reporter = new OperationReporter(settings);
  }

  /** Rejects with a KubeError when a status could not be written. */
  async report({ snapshot, plan, result }: PassToTell): Promise<void> {
    if (!snapshot.ownsNamespace) return;
    await this.#reporter.report({
      operations: snapshot.operations ?? [],
      planned: plan.operations ?? [],
      forget: plan.forgetOperations ?? [],
      resource: snapshot.resource,
      ...(result.failure === undefined ? {} : { failure: result.failure }),
    });
  }

  /** Returns when to look again, in ms; undefined when nobody asks for this RedisCluster. */
  async tellMissing(key: ObjectKey): Promise<number | undefined> {
    const operations = this.cache.of(formatObjectKey(key)) ?? [];
    if (operations.length === 0 || !this.#settings.ownsNamespace(key.namespace)) return undefined;
    const planned = judgeOrphans(operations, this.#settings.clock.nowMs());
    await this.#reporter.report({ operations, planned, forget: chooseHistory(operations) });
    return planned.length === 0 ? undefined : MISSING_RECHECK_MS;
  }
}
