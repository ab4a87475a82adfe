/**
 * Tells what became of RedisOperations: their status, one Event a change of phase at the RedisCluster, and the end of the
 * oldest ended ones. Decides nothing: what is over and what is forgotten is the planner's word.
 */
import type {
  Clock,
  PlannedOperation,
  PlanResult,
  RedisClusterObject,
  RedisOperationObject,
  RedisOperationStatus,
} from '#domain';
import { RESOURCE, isKubeError } from '#kube';
import type { KubeClient } from '#kube';
import type { EventRecorder } from './event-recorder.ts';
import { mergeOperationStatus, noteFailure } from './merge-operation-status.ts';
import { StatusWriter } from './write-status.ts';

export interface OperationReporterSettings {
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly clock: Clock;
  /** The fence: false when the Lease is too old to write. */
  readonly mayWrite: () => boolean;
}

export interface OperationsToReport {
  /** As the pass saw them. */
  readonly operations: readonly RedisOperationObject[];
  readonly planned: readonly PlannedOperation[];
  readonly forget: readonly { readonly name: string; readonly uid: string }[];
  readonly failure?: PlanResult['failure'];
  /** undefined: there is no such RedisCluster. */
  readonly resource?: RedisClusterObject;
}

const WRITE_WITHIN_MS = 5_000;

export class OperationReporter {
  readonly #settings: OperationReporterSettings;
  readonly #writer: StatusWriter<RedisOperationStatus>;

  constructor(settings: OperationReporterSettings) {
    this.#settings = settings;
    this.#writer = new StatusWriter(settings);
  }

  /** Rejects with a KubeError when a status could not be written; an operation that is gone is no error. */
  async report(told: OperationsToReport): Promise<void> {
    for (const planned of told.planned) {
      const operation = told.operations.find(({ metadata }) => metadata.uid === planned.uid);
      if (operation === undefined || !this.#settings.mayWrite()) continue;
      await this.#tell(operation, noteFailure(planned, operation, told.failure), told.resource);
    }
    for (const { name, uid } of told.forget) await this.#forget(told, name, uid);
  }

  async #tell(
    operation: RedisOperationObject,
    planned: PlannedOperation,
    resource: RedisClusterObject | undefined,
  ): Promise<void> {
    const last = this.#writer.lastOf(operation);
    const now = new Date(this.#settings.clock.nowMs()).toISOString();
    const status = mergeOperationStatus({ operation, last, planned, now });
    const written = await this.#writer.write(operation, status).catch((error: unknown) => {
      if (isKubeError(error) && (error.isNotFound() || error.isConflict())) return false;
      throw error;
    });
    if (!written || last?.phase === status.phase || resource === undefined) return;
    const { name } = operation.metadata;
    await this.#settings.events.tell(resource, {
      severity: status.phase === 'Failed' || status.phase === 'Expired' ? 'Warning' : 'Normal',
      reason: `Operation${status.phase ?? ''}`,
      message: `RedisOperation ${name} (${operation.spec.type}): ${status.message ?? ''}`,
    });
  }

  async #forget({ operations }: OperationsToReport, name: string, uid: string): Promise<void> {
    const { client, mayWrite } = this.#settings;
    const namespace = operations[0]?.metadata.namespace;
    if (namespace === undefined || !mayWrite()) return;
    await client
      .delete(RESOURCE.redisOperation, { namespace, name }, { uid, timeoutMs: WRITE_WITHIN_MS })
      .catch((error: unknown) => {
        if (!isKubeError(error) || !(error.isNotFound() || error.isConflict())) throw error;
      });
    this.#writer.forget(uid);
  }
}
