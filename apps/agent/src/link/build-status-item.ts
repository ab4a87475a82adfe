/**
 * One RedisCluster as the hub sees it: the states of its CR, who else owns spec fields, and the live spec where the hub
 * could not know it: for a hand-made object, and when the live spec is not the text that was pushed. Pure.
 */
import type { Endpoints, PodStatus, RedisClusterObject, RedisClusterStatus } from '#domain';
import { canonicalJson, specHash } from '#protocol';
import type { StatusDetails, StatusItem } from '#protocol';
import { readDataSetId, readHubVersion } from './hub-version.ts';
import { listForeignFields } from './list-foreign-fields.ts';

export interface StatusExtras {
  readonly numbers?: Readonly<Record<string, number>>;
  readonly unclaimed: boolean;
}

/** Drops what is undefined: the wire has no undefined, and absent is what it means. */
function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

export function buildStatusItem(object: RedisClusterObject, extras: StatusExtras): StatusItem {
  const version = readHubVersion(object);
  const foreignFields = version === undefined ? [] : listForeignFields(object);
  const asPushed = version !== undefined && isAsPushed(object, version.specHash);
  const { status = {} } = object;
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
