/**
 * The RedisCluster definition that this agent carries, and its care for it: brought at start and looked at again, since
 * somebody may remove it while the agent runs. While it is being deleted the operator lets its objects go; then it is
 * made anew.
 */
import { FIELD_MANAGER, type KubeObject } from '#domain';
import {
  createBackoff,
  type CrdState,
  crdSchemaHash,
  ensureCustomResourceDefinition,
  type KubeClient,
  KubeError,
  pause,
  RESOURCE,
  readCrdState,
} from '#kube';
import carried from '../../../../helm/atoll-crds/files/redisclusters.json' with { type: 'json' };
import type { Log } from './logger.ts';

export const carriedDefinition = carried as unknown as KubeObject;

export interface OwnDefinitionOptions {
  readonly client: KubeClient;
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
  let state: CrdState | undefined;
  const see = (next: CrdState): void => {
    if (next.kind !== state?.kind) options.log('info', 'definition of RedisCluster', { state: next.kind });
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
      return state?.kind === 'SERVED' ? crdSchemaHash(carriedDefinition) : '';
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
  const { client, signal, log } = options;
  const impatient = createBackoff(IMPATIENT_MS, Math.random);
  const stopped = (): boolean => signal.aborted;
  while (!stopped()) {
    try {
      see(await readCrdState(client, RESOURCE.redisCluster, { signal }));
      if (options.manage && options.mayWrite()) await bring(options, see);
    } catch (error) {
      if (!stopped()) log('warn', 'definition of RedisCluster not brought', { error });
    }
    if (isServedNow()) impatient.reset();
    await pause(isServedNow() ? (options.checkIntervalMs ?? DEFAULT_INTERVAL_MS) : impatient.next(), signal);
  }
}

async function bring(options: OwnDefinitionOptions, see: (state: CrdState) => void): Promise<void> {
  const { signal, log } = options;
  const result = await ensureCustomResourceDefinition({
    client: fencedClient(options),
    definition: carriedDefinition,
    fieldManager: FIELD_MANAGER.operator,
    signal,
    onState: see,
    onFailure: (error, retryInMs) => log('warn', 'definition of RedisCluster: attempt failed', { error, retryInMs }),
  });
  if (result.action !== 'UNCHANGED') log('info', 'definition of RedisCluster brought', { ...result });
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
