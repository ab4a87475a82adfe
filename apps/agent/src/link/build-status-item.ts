/**
 * One RedisCluster as the hub sees it: the states of its CR, who else owns spec fields, and the live spec where the hub
 * could not know it: for a hand-made object, and when the live spec is not the text that was pushed. Pure.
 */
import { ANNOTATION, originalOf } from '#domain';
import type { Condition, Endpoints, PodStatus, RedisClusterObject, RedisClusterStatus } from '#domain';
import { COPIED_CONDITION, canonicalJson, specHash } from '#protocol';
import type { StatusDetails, StatusItem } from '#protocol';
import { readDataSetId, readHubVersion } from './hub-version.ts';
import { listForeignFields } from './list-foreign-fields.ts';

export interface StatusExtras {
  readonly numbers?: Readonly<Record<string, number>>;
  readonly unclaimed: boolean;
  /** Another object here is the one that the hub means by this hubUid. */
  readonly isCopy?: boolean;
}

/** Drops what is undefined: the wire has no undefined, and absent is what it means. */
function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

export function buildStatusItem(object: RedisClusterObject, extras: StatusExtras): StatusItem {
  const original = extras.isCopy === true ? 'another object' : originalOf(object.metadata);
  const version = original === undefined ? readHubVersion(object) : undefined;
  const foreignFields = version === undefined ? [] : listForeignFields(object);
  const asPushed = version !== undefined && isAsPushed(object, version.specHash);
  const status = statusToTell(object, original);
  const item = {
    hubUid: version?.hubUid,
    ...identityOf(object),
    kind: object.kind,
    dataSetId: readDataSetId(object),
    ...statesOf(status),
    details: detailsOf(status),
    foreignFields,
    liveSpec: asPushed ? undefined : object.spec,
    unclaimed: extras.unclaimed ? true : undefined,
    numbers: extras.numbers,
  };
  return present(item) as StatusItem;
}

const identityOf = ({
  metadata: { namespace = '', name, uid = '', deletionTimestamp },
}: RedisClusterObject): Record<string, unknown> => ({
  namespace,
  name,
  uid,
  terminating: deletionTimestamp === undefined ? undefined : true,
});

const statesOf = (status: RedisClusterStatus): Record<string, unknown> => ({
  observedHubGeneration: status.observedHubGeneration,
  observedGeneration: status.observedGeneration,
  phase: status.phase,
  conditions: status.conditions ?? [],
  mode: status.mode,
  engineVersion: status.engineVersion,
  size: status.size,
  readyPods: status.readyPods,
  currentPrimary: status.currentPrimary,
  primaryTerm: status.primaryTerm,
  endpoints: status.endpoints === undefined ? undefined : textsOf(status.endpoints),
  pods: podsOf(status),
});

function statusToTell(object: RedisClusterObject, original: string | undefined): RedisClusterStatus {
  const { status = {} } = object;
  if (original === undefined) return status;
  return { ...status, conditions: [...(status.conditions ?? []), copiedCondition(object, original)] };
}

/** Told to the hub alone: the operator treats a copy as what it is, an object made by hand. */
const copiedCondition = ({ metadata }: RedisClusterObject, original: string): Condition => ({
  type: COPIED_CONDITION,
  status: 'True',
  reason: 'AnnotationsCopied',
  message:
    `The annotations of this object were copied from ${original}, so the hub does not take it for the object that they name. ` +
    `Remove ${ANNOTATION.hubUid} from it, or adopt it under the hub.`,
  observedGeneration: metadata.generation ?? 0,
  lastTransitionTime: metadata.creationTimestamp ?? '',
});

/** Undefined while there is nothing to tell. */
const detailsOf = (status: RedisClusterStatus): StatusDetails | undefined => {
  const { primaryEngine, primaryVersion, rollout, config, credentials, setAside, capabilities } = status;
  const details = present({ primaryEngine, primaryVersion, rollout, config, credentials, setAside, capabilities });
  return Object.keys(details).length === 0 ? undefined : details;
};

const textsOf = (endpoints: Endpoints): Record<string, string> => present({ ...endpoints });

const podsOf = (status: RedisClusterStatus): PodStatus[] => [
  ...(status.shards ?? []).flatMap((shard) => shard.pods),
  ...(status.sentinels ?? []),
];

/** The schema has no defaults, so an object that nobody edited has exactly the pushed spec. */
const isAsPushed = (object: RedisClusterObject, hash: string): boolean => specHash(canonicalJson(object.spec)) === hash;

/** What the hub is told of an object that is no longer there. */
export const buildGoneItem = ({
  hubUid,
  namespace,
  name,
  uid,
  kind,
}: Pick<StatusItem, 'hubUid' | 'namespace' | 'name' | 'uid' | 'kind'>): StatusItem => ({
  ...(hubUid === undefined ? {} : { hubUid }),
  namespace,
  name,
  uid,
  kind,
  conditions: [],
  pods: [],
  foreignFields: [],
  gone: true,
});
