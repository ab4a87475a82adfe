/**
 * Which part of the user's spec is acted on. Decided from the spec, the live children and the record. What cannot be
 * changed in place (other or smaller storage), or would take data away (hold-memory.ts), is held at what is live and named
 * as a refusal: the data set is kept healthy as it is, and nothing is deleted. How the rest is reached, step by step, is shape/choose-shape.ts.
 */
import { findUpgradeEdge, isSystemPriorityClass, parseQuantity, validateSpec } from '#domain';
import type { DataSetRecord, EngineVersion, RedisClusterSnapshot, ResolvedSpec } from '#domain';
import { CURRENT_RENDER_VERSION, planHash, resolveSpec } from '#manifests';
import type { DataPod } from './cluster-view.ts';
import { holdMemory } from './hold-memory.ts';
import { consentGiven } from './operations/consent-given.ts';
import { withSurge } from './rollout/surge.ts';
import type { LiveShape } from './read-live-shape.ts';

export interface SpecRefusal {
  /** Stable code in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface AcceptedSpec {
  /** The user's spec, except for what `refusals` name: where the data set is led to. */
  readonly wanted: ResolvedSpec;
  readonly refusals: readonly SpecRefusal[];
  /** False when nothing may be rendered until the spec is mended. */
  readonly specUsable: boolean;
}

interface AcceptInput {
  readonly live: LiveShape;
  readonly snapshot: RedisClusterSnapshot;
  readonly record: DataSetRecord | undefined;
  readonly renderVersion: number;
  readonly dataPods: readonly DataPod[];
  readonly nowMs: number;
}

interface Hold extends SpecRefusal {
  readonly kept: Partial<ResolvedSpec>;
}

export const acceptSpec = (input: AcceptInput): AcceptedSpec => {
  const { resource } = input.snapshot;
  const wanted = withSurge(resolveSpec(resource.spec), input.record);
  const problems = validateSpec(resource.spec).map(({ path, message }): SpecRefusal => ({
    reason: 'InvalidSpec',
    message: `${path.join('.')}: ${message}`,
  }));
  const unfit = explainUnfit(input, wanted);
  const memory = keepMemory(input, wanted);
  const holds = [
    holdStorage(wanted, input.live, resource.spec.persistence?.enabled !== undefined),
    holdPriority(wanted, input.live),
  ].flatMap((hold) => hold ?? []);
  return {
    wanted: holds.reduce((spec, { kept }) => ({ ...spec, ...kept }), { ...wanted, ...memory?.kept }),
    refusals: [
      ...problems,
      ...unfit,
      ...holds.map(({ reason, message }) => ({ reason, message })),
      ...(memory === undefined ? [] : [memory.refusal]),
    ],
    specUsable: problems.length === 0 && unfit.length === 0,
  };
};

const keepMemory = ({ snapshot, live, record, dataPods, nowMs }: AcceptInput, wanted: ResolvedSpec) =>
  holdMemory({
    wanted,
    live: live.memory,
    dataPods,
    record,
    planHash: planHash(snapshot.resource.spec),
    consents: (hash) => consentGiven({ snapshot, nowMs }, hash),
  });

/** A volume can grow (shape/step-storage.ts); what it is made of, and down to less, it cannot change. */
const holdStorage = (wanted: ResolvedSpec, { storage }: LiveShape, isExplicit: boolean): Hold | undefined => {
  if (storage === undefined) return undefined;
  const because = explainStorage(storage, wanted.storage);
  if (because === undefined) return undefined;
  const sameDefault = isExplicit || storage.type === wanted.storage.type;
  return {
    reason: 'StorageChangeNotSupported',
    message: `The storage stays ${[storage.type, storage.size].filter(Boolean).join(' ')}: ${because}. Set spec.storage back, or make a new RedisCluster.`,
    // The default of persistence follows the storage that is there.
    kept: { storage, ...(sameDefault ? {} : { persistenceEnabled: storage.type === 'PersistentVolume' }) },
  };
};

/** Left out, or as it is live: pods that an older agent gave it are not restarted for it. */
const holdPriority = ({ scheduling }: ResolvedSpec, live: LiveShape): Hold | undefined => {
  const { priorityClassName: name, ...rest } = scheduling;
  if (name === undefined || !isSystemPriorityClass(name) || name === live.priorityClassName) return undefined;
  return {
    reason: 'PriorityClassNotAllowed',
    message: `PriorityClass ${name} belongs to Kubernetes' own components, and the pods do not get it. Name one of your cluster, or none.`,
    kept: {
      scheduling: {
        ...rest,
        ...(live.priorityClassName === undefined ? {} : { priorityClassName: live.priorityClassName }),
      },
    },
  };
};

const explainStorage = (live: ResolvedSpec['storage'], wanted: ResolvedSpec['storage']): string | undefined => {
  if (live.type !== wanted.type) return 'its type cannot be changed in place';
  if (wanted.type === 'Ephemeral') return undefined;
  if ((wanted.storageClassName ?? live.storageClassName) !== live.storageClassName) {
    return 'a volume cannot move to another StorageClass';
  }
  const [was, asked] = [parseQuantity(live.size ?? ''), parseQuantity(wanted.size ?? '')];
  return was !== undefined && asked !== undefined && asked < was ? 'a volume cannot be made smaller' : undefined;
};

/** What cannot be held: nothing is rendered at all until it is mended. */
const explainUnfit = ({ record, dataPods, renderVersion }: AcceptInput, wanted: ResolvedSpec): SpecRefusal[] => {
  const refusals: SpecRefusal[] = [];
  const ran = readEngine(record, dataPods);
  const edge = ran === undefined ? undefined : findUpgradeEdge(ran, wanted.engine);
  if (edge?.allowed === false) refusals.push({ reason: edge.reason, message: edge.message });
  if (renderVersion > CURRENT_RENDER_VERSION) {
    const message = `A newer agent made these objects (render version ${renderVersion}). Upgrade this agent.`;
    refusals.push({ reason: 'AgentTooOld', message });
  }
  return refusals;
};

/**
 * What a primary of this data set has run, by its record. An agent before 0.2.0 did not record the engine and could not
 * change it: the pods tell. Without a version no primary is known to have written anything.
 */
const readEngine = (record: DataSetRecord | undefined, dataPods: readonly DataPod[]): EngineVersion | undefined => {
  const running = dataPods.map((pod) => pod.facts).find((facts) => facts.reachable);
  const type = record?.primaryEngine ?? running?.engine;
  const version = record?.primaryVersion;
  return type === undefined || version === undefined ? undefined : { type, version };
};
