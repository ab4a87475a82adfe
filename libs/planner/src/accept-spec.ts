/**
 * Which part of the user's spec is acted on. Decided from the spec, the live children and the record. What this release
 * cannot change without endangering data (a smaller size, another mode, storage or persistence) is held at what
 * is live and named as a refusal: the data set is kept healthy as it is, and nothing is deleted. Without the hold, one
 * edit would shrink a StatefulSet under its primary, or restart an append-only server as one that loads nothing.
 */
import { findUpgradeEdge, parseQuantity, validateSpec } from '#domain';
import type { DataSetRecord, EngineVersion, RedisClusterSnapshot, ResolvedSpec } from '#domain';
import { CURRENT_RENDER_VERSION, resolveSpec } from '#manifests';
import type { ObjectNames } from '#manifests';
import type { DataPod } from './cluster-view.ts';
import { readLiveShape } from './read-live-shape.ts';
import type { LiveShape } from './read-live-shape.ts';

export interface SpecRefusal {
  /** Stable code in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface AcceptedSpec {
  readonly spec: ResolvedSpec;
  readonly refusals: readonly SpecRefusal[];
  /** False when nothing may be rendered until the spec is mended. */
  readonly specUsable: boolean;
}

interface AcceptInput {
  readonly snapshot: RedisClusterSnapshot;
  readonly names: ObjectNames;
  readonly record: DataSetRecord | undefined;
  readonly renderVersion: number;
  readonly dataPods: readonly DataPod[];
}

interface Hold extends SpecRefusal {
  readonly kept: Partial<ResolvedSpec>;
}

export const acceptSpec = (input: AcceptInput): AcceptedSpec => {
  const { resource } = input.snapshot;
  const wanted = resolveSpec(resource.spec);
  const live = readLiveShape(input.snapshot, input.names);
  const problems = validateSpec(resource.spec).map(({ path, message }): SpecRefusal => ({
    reason: 'InvalidSpec',
    message: `${path.join('.')}: ${message}`,
  }));
  const unfit = explainUnfit(input, wanted);
  const holds = [holdMode, holdSize, holdSentinels, holdPersistence, holdStorage].flatMap(
    (hold) => hold(wanted, live) ?? [],
  );
  return {
    spec: holds.reduce((spec, { kept }) => ({ ...spec, ...kept }), wanted),
    refusals: [...problems, ...unfit, ...holds.map(({ reason, message }) => ({ reason, message }))],
    specUsable: problems.length === 0 && unfit.length === 0,
  };
};

const NOT_YET = 'changing it in place is not offered yet';

const holdMode = (wanted: ResolvedSpec, { mode, size, sentinels }: LiveShape): Hold | undefined => {
  if (mode === undefined || mode === wanted.mode) return undefined;
  return {
    reason: 'ModeChangeNotSupported',
    message: `The mode stays ${mode}: ${NOT_YET}. Set spec.mode to ${mode}.`,
    kept: {
      mode,
      ...(size === undefined ? {} : { size }),
      ...(sentinels === undefined ? {} : { sentinel: { ...wanted.sentinel, replicas: sentinels } }),
    },
  };
};

const holdSize = (wanted: ResolvedSpec, { size }: LiveShape): Hold | undefined => {
  if (size === undefined || wanted.size >= size) return undefined;
  return {
    reason: 'SizeLoweringNotSupported',
    message: `The size stays ${size}: lowering it is not offered yet. Set spec.size to ${size} or more.`,
    kept: { size },
  };
};

const holdSentinels = (wanted: ResolvedSpec, { mode, sentinels }: LiveShape): Hold | undefined => {
  if (mode !== 'Sentinel' || sentinels === undefined || wanted.sentinel.replicas >= sentinels) return undefined;
  return {
    reason: 'SentinelLoweringNotSupported',
    message: `There stay ${sentinels} Sentinels: removing some is not offered yet. Set spec.sentinel.replicas to ${sentinels} or more.`,
    kept: { sentinel: { ...wanted.sentinel, replicas: sentinels } },
  };
};

const holdPersistence = (wanted: ResolvedSpec, { persistenceEnabled }: LiveShape): Hold | undefined => {
  if (persistenceEnabled === undefined || persistenceEnabled === wanted.persistenceEnabled) return undefined;
  const state = persistenceEnabled ? 'on' : 'off';
  return {
    reason: 'PersistenceChangeNotSupported',
    message: `Persistence stays ${state}: ${NOT_YET}. Set spec.persistence.enabled to ${persistenceEnabled}.`,
    kept: { persistenceEnabled },
  };
};

const holdStorage = (wanted: ResolvedSpec, { storage }: LiveShape): Hold | undefined => {
  if (storage === undefined || sameStorage(storage, wanted.storage)) return undefined;
  return {
    reason: 'StorageChangeNotSupported',
    message: `The storage stays ${storage.type} ${storage.size ?? ''}: ${NOT_YET}. Set spec.storage back.`,
    kept: { storage },
  };
};

const sameStorage = (live: ResolvedSpec['storage'], wanted: ResolvedSpec['storage']): boolean => {
  if (live.type !== wanted.type) return false;
  if (wanted.type === 'Ephemeral') return true;
  const sameSize = parseQuantity(live.size ?? '') === parseQuantity(wanted.size ?? '');
  return sameSize && (wanted.storageClassName ?? live.storageClassName) === live.storageClassName;
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
