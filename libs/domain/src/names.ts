/** Names that are written into other people's clusters: changing one orphans what an older release wrote. */
export const API_GROUP = 'redis.atoll.dev';
export const API_VERSION = 'v1alpha1';
export const API_GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;
export const REDIS_CLUSTER_KIND = 'RedisCluster';
export const REDIS_CLUSTER_PLURAL = 'redisclusters';
export const REDIS_CLUSTER_CRD_NAME = `${REDIS_CLUSTER_PLURAL}.${API_GROUP}`;
export const REDIS_OPERATION_KIND = 'RedisOperation';
export const REDIS_OPERATION_PLURAL = 'redisoperations';
export const REDIS_OPERATION_CRD_NAME = `${REDIS_OPERATION_PLURAL}.${API_GROUP}`;

export const ANNOTATION = {
  hubUid: `${API_GROUP}/hub-uid`,
  /** `namespace/name` that the hub gave the object: under another one the annotations are a copy's (see hub-uid.ts). */
  hubName: `${API_GROUP}/hub-name`,
  hubGeneration: `${API_GROUP}/hub-generation`,
  specHash: `${API_GROUP}/spec-hash`,
  /** Owner text (see scope.ts) of the agent that applied it for its hub: two agents of one cluster count their own. */
  pushedBy: `${API_GROUP}/pushed-by`,
  /** Wins over hubUid and metadata.uid; fixed at the first reconcile. */
  dataSetId: `${API_GROUP}/data-set-id`,
  /** On children: the RedisCluster they belong to, for people; ownerReferences are not used (04). */
  ownedBy: `${API_GROUP}/redis-cluster`,
  renderVersion: `${API_GROUP}/render-version`,
  /** On pod templates: differs when a directive differs that only a restart applies. */
  restartHash: `${API_GROUP}/restart-hash`,
  /** On children: hash of what was rendered last, so that a field which is rendered no more is taken away. */
  rendered: `${API_GROUP}/rendered`,
  /** On data pods: hash of the settings that the pod was asked to read at once, ahead of the kubelet's next round. */
  settings: `${API_GROUP}/settings`,
  /** On a volume's claim: the file that was kept on it when its data set was deleted. */
  keptFile: `${API_GROUP}/kept-file`,
  /** A person's word in a split brain that nobody else can decide: the pod that is right. */
  truePrimary: `${API_GROUP}/true-primary`,
  /** A person's word that what this pod holds of its own may go. */
  discardDataOf: `${API_GROUP}/discard-data-of`,
  /** On our CRDs: orders them, see libs/kube. */
  crdVersion: `${API_GROUP}/crd-version`,
  /** A person's word in the member cluster: the spec with this hash may be applied although the agent holds it (ADR 0065). */
  letThrough: `${API_GROUP}/let-through`,
  /** On the credentials Secret: uid of the RedisOperation that asked for its newest version. */
  rotationOperation: `${API_GROUP}/rotation-operation`,
} as const;

export const LABEL = {
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  component: 'app.kubernetes.io/component',
  managedBy: 'app.kubernetes.io/managed-by',
  partOf: 'app.kubernetes.io/part-of',
  /** Hash of the data set id, see formatDataSetHash. On every child and every volume. */
  dataSet: `${API_GROUP}/data-set`,
  /** `primary` or `replica`, on data pods; the role Services select by it. */
  role: `${API_GROUP}/role`,
  /** On the claim of the one volume that deletionPolicy Snapshot left: uid of the RedisCluster that was deleted. */
  kept: `${API_GROUP}/kept`,
  /** `true` on a user's Secret: its password may be copied. */
  allow: `${API_GROUP}/allow`,
} as const;

export const FINALIZER = `${API_GROUP}/children`;

/** Field managers of server-side apply. The link owns pushed spec fields; the operator owns children and status. */
export const FIELD_MANAGER = { link: 'atoll-hub', operator: 'atoll-agent' } as const;

export const AGENT_IDENTITY_SECRET = 'atoll-agent-identity';
export const AGENT_STATE_CONFIG_MAP = 'atoll-agent-state';
export const SCOPE_CONFIG_MAP = 'atoll-scope';
export const AGENT_LEASE = 'atoll-agent';

/** Before `drop` or `keep` at the end of a server's process title: what the pod's settings say of its append-only file. */
export const AOF_SEEN = 'aof=';

/** Name of the agent's connection to a primary for as long as it carries a hand-over out: the pod's preStop sees it. */
export const HANDING_OVER = 'atoll-handing-over';

export const REDIS_PORT = 6379;
export const SENTINEL_PORT = 26379;

/**
 * Where a Redis that must not yet be primary is told to replicate from: the pod's own loopback, at a port where nothing
 * can listen (only port 6379 is bound, and 127.255.255.254 is nobody's pod IP). Each try is refused within the pod, so
 * no packet leaves it, unlike with TEST-NET-1, whose packets follow the default route. The startup guard writes it, the
 * planner reads "replica of this address" as "waits for Sentinel or the agent".
 */
export const WAITING_PRIMARY_HOST = '127.255.255.254';
export const WAITING_PRIMARY_PORT = 1;

/**
 * Longest name of a RedisCluster. A StatefulSet's name may have 52 characters (its revision hash must fit a label of
 * 63), and `<name>-<10 characters of hash>` is one.
 */
export const MAX_REDIS_CLUSTER_NAME_LENGTH = 40;

/** replica-priority of every data pod in calm: a planned hand-over lowers that of its target for seconds. */
export const REPLICA_PRIORITY = '100';

/**
 * How often a Sentinel of ours asks each pod for INFO, instead of its own 10 s: by that alone it learns of a replica with a
 * new address, and until it does it cannot choose that one. It takes only a replica heard of within three periods.
 */
export const SENTINEL_INFO_PERIOD_MS = 2_000;
