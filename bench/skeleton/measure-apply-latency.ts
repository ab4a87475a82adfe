import { createKubeClient, loadKubeConnection, RESOURCE } from '#kube';
import type { GraphqlClient } from '../../tools/fleet/graphql-client.ts';
import {
  createRedisCluster,
  isReady,
  mutateRedisCluster,
  waitForRedisCluster,
} from '../../tools/fleet/redis-cluster.ts';
import { expectNoUserErrors } from '../../tools/fleet/member-cluster.ts';
import { BENCH_NAMESPACE, STANDALONE, type BenchMember } from './bench-member.ts';

const CHANGES = 100;
const WAIT_MS = 30_000;

/** Resolves when a watch of the member's API server shows the object at this hub generation. */
class GenerationWatch {
  readonly #seen = new Map<number, () => void>();
  #latest = 0;

  observe(generation: number): void {
    this.#latest = Math.max(this.#latest, generation);
    for (const [wanted, resolve] of this.#seen) if (wanted <= this.#latest) resolve();
  }

  async reached(generation: number): Promise<void> {
    if (this.#latest >= generation) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`generation ${generation} was not applied`)), WAIT_MS);
      this.#seen.set(generation, () => {
        clearTimeout(timer);
        this.#seen.delete(generation);
        resolve();
      });
    });
  }
}

async function measureMember(api: GraphqlClient, member: BenchMember): Promise<number[]> {
  const { memberClusterId, access } = member;
  const { id } = await createRedisCluster(api, {
    memberClusterId,
    namespace: BENCH_NAMESPACE,
    name: 'latency',
    spec: STANDALONE,
  });
  let { generation } = await waitForRedisCluster(api, id, isReady, { what: 'Ready' });
  const connection = await loadKubeConnection({ kubeconfigPath: access.kubeconfigPath });
  const client = createKubeClient(connection, { userAgent: 'atoll-bench' });
  const watch = new GenerationWatch();
  const ended = new AbortController();
  const watching = client.watch(RESOURCE.redisCluster, {
    namespace: BENCH_NAMESPACE,
    signal: ended.signal,
    onEvent: ({ object }) =>
      watch.observe(Number(object.metadata.annotations?.['redis.atoll.dev/hub-generation'] ?? 0)),
  });
  const latenciesMs: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const spec = { ...STANDALONE, config: { 'slowlog-max-len': String(100 + change) } };
    const startedAt = performance.now();
    const payload = await mutateRedisCluster(api, 'update', { id, expectedGeneration: generation, spec });
    generation = expectNoUserErrors(payload).redisCluster?.generation ?? generation;
    await watch.reached(generation);
    latenciesMs.push(performance.now() - startedAt);
  }
  ended.abort();
  await watching.catch(() => undefined); // ended by ourselves
  await client.close();
  return latenciesMs;
}

/** From sending the mutation until the member's API server shows the new generation; both clusters at a time, in ms. */
export async function measureApplyLatency(api: GraphqlClient, members: readonly BenchMember[]): Promise<number[]> {
  return (await Promise.all(members.map((member) => measureMember(api, member)))).flat();
}
