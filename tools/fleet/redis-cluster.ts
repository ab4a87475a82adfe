import { setTimeout as sleep } from 'node:timers/promises';
import type { GraphqlClient } from './graphql-client.ts';
import { expectNoUserErrors } from './member-cluster.ts';

const FIELDS = `id hubUid name namespace generation deleting
  delivery { state code message generation sync drift { path manager liveValue wantedValue } }
  status { phase size readyPods currentPrimary primaryTerm observedGeneration ageSeconds freshness lastKnown dataSetId engineVersion
    endpoints { primary replicas sentinel masterName connectionSecret primaryAddress }
    pods { name role ready node ip link } conditions { type status reason message } }`;

export interface RedisClusterView {
  readonly id: string;
  readonly hubUid: string;
  readonly name: string;
  readonly namespace: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly delivery: {
    readonly state: string;
    readonly code: string | null;
    readonly message: string | null;
    readonly generation: number;
    readonly sync: string;
    readonly drift: readonly {
      readonly path: string;
      readonly manager: string;
      readonly liveValue: unknown;
      readonly wantedValue: unknown;
    }[];
  };
  readonly status: {
    readonly phase: string | null;
    readonly size: number | null;
    readonly readyPods: number | null;
    readonly currentPrimary: string | null;
    readonly primaryTerm: number | null;
    readonly observedGeneration: number | null;
    readonly ageSeconds: number;
    readonly freshness: string;
    readonly lastKnown: boolean;
    readonly dataSetId: string | null;
    readonly engineVersion: string | null;
    readonly endpoints: Readonly<Record<string, string | null>> | null;
    readonly pods: readonly {
      readonly name: string;
      readonly role: string;
      readonly ready: boolean;
      readonly node: string | null;
      readonly ip: string | null;
      readonly link: string | null;
    }[];
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  } | null;
}

interface Payload {
  readonly redisCluster: RedisClusterView | null;
  readonly userErrors: readonly {
    readonly code: string;
    readonly field: readonly string[] | null;
    readonly message: string;
  }[];
}

/** Runs one mutation on RedisClusters and answers its payload, user errors included. */
export async function mutateRedisCluster(
  api: GraphqlClient,
  mutation: 'create' | 'update' | 'delete' | 'recreate' | 'forget',
  input: Readonly<Record<string, unknown>>,
): Promise<Payload> {
  const field = `${mutation}RedisCluster`;
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const document = `mutation M($input: ${type}!) { ${field}(input: $input) { redisCluster { ${FIELDS} } userErrors { code field message } } }`;
  const answer = await api.request<Record<string, Payload>>(document, { input });
  const payload = answer[field];
  if (payload === undefined) throw new Error(`${field} is not in the answer`);
  return payload;
}

export async function createRedisCluster(
  api: GraphqlClient,
  input: Readonly<Record<string, unknown>>,
): Promise<RedisClusterView> {
  const { redisCluster } = expectNoUserErrors(await mutateRedisCluster(api, 'create', input));
  if (redisCluster === null) throw new Error('createRedisCluster answered neither an object nor an error');
  return redisCluster;
}

/** The object as the hub knows it now; undefined once its row is gone. */
export async function readRedisCluster(api: GraphqlClient, id: string): Promise<RedisClusterView | undefined> {
  const answer = await api.request<{ redisCluster: RedisClusterView | null }>(
    `query Q($id: ID!) { redisCluster(id: $id) { ${FIELDS} } }`,
    { id },
  );
  return answer.redisCluster ?? undefined;
}

/** Polls until `accept` holds; throws with the last view when it never does. */
export async function waitForRedisCluster(
  api: GraphqlClient,
  id: string,
  accept: (view: RedisClusterView) => boolean,
  options: { readonly what: string; readonly timeoutMs?: number },
): Promise<RedisClusterView> {
  const timeoutMs = options.timeoutMs ?? 120_000;
  const deadline = performance.now() + timeoutMs;
  let last: RedisClusterView | undefined;
  while (performance.now() < deadline) {
    last = await readRedisCluster(api, id);
    if (last !== undefined && accept(last)) return last;
    await sleep(200);
  }
  throw new Error(`${id}: not ${options.what} within ${timeoutMs / 1000} s; last seen: ${JSON.stringify(last)}`);
}

export const isReady = (view: RedisClusterView): boolean =>
  view.status?.phase === 'READY' && view.status.observedGeneration === view.generation;

/** The condition of this type, when it is True. */
export const trueCondition = (
  view: RedisClusterView,
  type: string,
): { readonly reason: string; readonly message: string } | undefined =>
  view.status?.conditions.find((each) => each.type === type && each.status === 'TRUE');

/** The pod that the status names as primary. */
export const primaryPod = (view: RedisClusterView): { readonly name: string; readonly ip: string | null } | undefined =>
  view.status?.pods.find((pod) => pod.name === view.status?.currentPrimary);
