/**
 * The definitions that this agent carries, and its care for each: brought at start and looked at again, since somebody
 * may remove one while the agent runs. While RedisCluster's is being deleted the operator lets its objects go; then it is
 * made anew. Nothing waits for RedisOperation's: without it Redis is cared for all the same.
 */
import { FIELD_MANAGER, type KubeObject } from '#domain';
import {
  createBackoff,
  type CrdState,
  crdSchemaHash,
  ensureCustomResourceDefinition,
  type KubeClient,
  KubeError,
  type KubeResource,
  pause,
  RESOURCE,
  readCrdState,
} from '#kube';
import carriedClusters from '../../../../helm/atoll-crds/files/redisclusters.json' with { type: 'json' };
import carriedOperations from '../../../../helm/atoll-crds/files/redisoperations.json' with { type: 'json' };
import type { Log } from './logger.ts';

export interface CarriedDefinition {
  readonly resource: KubeResource;
  readonly object: KubeObject;
}

export const REDIS_CLUSTER_DEFINITION: CarriedDefinition = {
  resource: RESOURCE.redisCluster,
  object: carriedClusters,
};
export const REDIS_OPERATION_DEFINITION: CarriedDefinition = {
  resource: RESOURCE.redisOperation,
  object: carriedOperations,
};

export interface OwnDefinitionOptions {
  readonly client: KubeClient;
  readonly definition: CarriedDefinition;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** False: somebody else applies it; it is only looked at. */
  readonly manage: boolean;
  /** May this process write now? Several pods of an agent must not apply against each other. */
  readonly mayWrite: () => boolean;
  /** Default 30,000. */
  readonly checkIntervalMs?: number;
}

export interface OwnDefinition {
  /** As last seen; undefined before the first answer. */
  readonly state: CrdState | undefined;
  /** Schema hash of the live definition; of the carried one when the live one may not be read; '' when there is none. */
  readonly schemaHash: string;
  /** Resolves when the kind is served for the first time; rejects when the signal comes before. */
  readonly whenServed: Promise<void>;
  readonly done: Promise<void>;
}

const DEFAULT_INTERVAL_MS = 30_000;
/** While the kind is not served, everything waits for it: above all at start, until this process holds the Lease. */
const IMPATIENT_MS = { first: 50, longest: 2_000 };

export function keepOwnDefinition(options: OwnDefinitionOptions): OwnDefinition {
  const served = Promise.withResolvers<void>();
  served.promise.catch(() => undefined);
  const { object, resource } = options.definition;
  const { kind } = resource;
  let state: CrdState | undefined;
  const see = (next: CrdState): void => {
    if (next.kind !== state?.kind) options.log('info', `definition of ${kind}`, { state: next.kind });
    state = next;
    if (isServed(next)) served.resolve();
  };
  const done = run(options, see, () => isServed(state)).finally(() => served.reject(new Error('stopped')));
  return {
    get state() {
      return state;
    },
    get schemaHash() {
      if (state?.kind === 'PRESENT') return state.schemaHash;
      return state?.kind === 'SERVED' ? crdSchemaHash(object) : '';
    },
    whenServed: served.promise,
    done,
  };
}

const isServed = (state: CrdState | undefined): boolean =>
  state?.kind === 'SERVED' || (state?.kind === 'PRESENT' && state.established);

async function run(
  options: OwnDefinitionOptions,
  see: (state: CrdState) => void,
  isServedNow: () => boolean,
): Promise<void> {
  const { client, signal, log, definition } = options;
  const impatient = createBackoff(IMPATIENT_MS, Math.random);
  const stopped = (): boolean => signal.aborted;
  while (!stopped()) {
    try {
      see(await readCrdState(client, definition.resource, { signal }));
      if (options.manage && options.mayWrite()) await bring(options, see);
    } catch (error) {
      if (!stopped()) log('warn', `definition of ${definition.resource.kind} not brought`, { error });
    }
    if (isServedNow()) impatient.reset();
    await pause(isServedNow() ? (options.checkIntervalMs ?? DEFAULT_INTERVAL_MS) : impatient.next(), signal);
  }
}

async function bring(options: OwnDefinitionOptions, see: (state: CrdState) => void): Promise<void> {
  const { signal, log, definition } = options;
  const { kind } = definition.resource;
  const result = await ensureCustomResourceDefinition({
    client: fencedClient(options),
    definition: definition.object,
    fieldManager: FIELD_MANAGER.operator,
    signal,
    onState: see,
    onFailure: (error, retryInMs) => log('warn', `definition of ${kind}: attempt failed`, { error, retryInMs }),
  });
  if (result.action !== 'UNCHANGED') log('info', `definition of ${kind} brought`, { ...result });
  see({ kind: 'PRESENT', established: true, version: result.version, schemaHash: result.schemaHash });
}

/** Waiting for a definition to go may outlast the lease, so it is asked again right before the write (03 rule 15). */
function fencedClient({ client, mayWrite }: OwnDefinitionOptions): KubeClient {
  return {
    ...client,
    async apply(object, applyOptions) {
      if (mayWrite()) return client.apply(object, applyOptions);
      throw new KubeError({ reason: 'ABORTED', message: 'not applied: this process does not hold a young lease' });
    },
  };
}
