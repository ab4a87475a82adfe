import { setTimeout as sleep } from 'node:timers/promises';
import type { GraphqlClient } from '../../tools/fleet/graphql-client.ts';
import type { Kubectl } from '../../tools/fleet/connect-redis.ts';
import { createRedisCluster, isReady, waitForRedisCluster } from '../../tools/fleet/redis-cluster.ts';
import { BENCH_NAMESPACE, SENTINEL, type BenchMember } from './bench-member.ts';

export interface Readiness {
  /** From the mutation until the hub says Ready. */
  readonly readyMs: number;
  /** Of that, from the first pod's creation until the last data pod and sentinel runs: what Kubernetes needs. */
  readonly podsMs: number;
  /** A plain StatefulSet of three pods of the same image, from apply to 3/3 ready. */
  readonly plainMs: number;
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly creationTimestamp: string };
    readonly status: {
      readonly containerStatuses?: readonly { readonly state: { readonly running?: { readonly startedAt: string } } }[];
    };
  }[];
}

const POLL_MS = 100;
const DEADLINE_MS = 120_000;

const plainStatefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'plain', namespace: BENCH_NAMESPACE },
  spec: {
    serviceName: 'plain',
    replicas: 3,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: 'plain' } },
    template: {
      metadata: { labels: { app: 'plain' } },
      spec: {
        containers: [
          {
            name: 'redis',
            image: 'docker.io/library/redis:8.0',
            command: ['redis-server', '--dir', '/tmp'],
            readinessProbe: { exec: { command: ['redis-cli', 'ping'] }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

async function measurePlain(member: BenchMember): Promise<number> {
  const startedAt = performance.now();
  await member.kubectl(['apply', '-f', '-'], JSON.stringify(plainStatefulSet));
  while (performance.now() - startedAt < DEADLINE_MS) {
    const ready = await member.kubectl([
      'get',
      'sts',
      'plain',
      '-n',
      BENCH_NAMESPACE,
      '-o',
      'jsonpath={.status.readyReplicas}',
    ]);
    if (ready === '3') return performance.now() - startedAt;
    await sleep(POLL_MS);
  }
  throw new Error('the plain StatefulSet did not become ready');
}

/** Seconds have no fractions in these timestamps, so this is right to a second. */
async function podsStartMs(kubectl: Kubectl, instance: string): Promise<number> {
  const selector = `app.kubernetes.io/instance=${instance}`;
  const pods = JSON.parse(await kubectl(['get', 'pods', '-n', BENCH_NAMESPACE, '-l', selector, '-o', 'json'])) as Pods;
  const created = pods.items.map((pod) => Date.parse(pod.metadata.creationTimestamp));
  const started = pods.items
    .flatMap((pod) => pod.status.containerStatuses ?? [])
    .map((each) => Date.parse(each.state.running?.startedAt ?? ''));
  return Math.max(...started) - Math.min(...created);
}

/** One RedisCluster of three with three sentinels, and a plain StatefulSet of three, one after the other. */
export async function measureReadiness(api: GraphqlClient, members: readonly BenchMember[]): Promise<Readiness> {
  const [member] = members;
  if (!member) throw new Error('no member cluster');
  const { memberClusterId, kubectl } = member;
  const startedAt = performance.now();
  const { id } = await createRedisCluster(api, {
    memberClusterId,
    namespace: BENCH_NAMESPACE,
    name: 'ready',
    spec: SENTINEL,
  });
  await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  const readyMs = performance.now() - startedAt;
  const podsMs = await podsStartMs(kubectl, 'ready');
  return { readyMs, podsMs, plainMs: await measurePlain(member) };
}
