/** Every pod of a data set is deleted at once, so every address changes: it heals alone, with every key. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  kubectl,
  listItems,
  makeNamespace,
  readConnection,
  waitFor,
  waitLocallyReady,
  type PodItem,
} from './member.ts';
import { DURABLE, REPLICATION_SPEC, SENTINEL_SPEC } from './specs.ts';

const NAMESPACE = 'full-outage';
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
}, 240_000);
afterAll(() => cleanUp(fleet, fleet.b, NAMESPACE));

const podsOf = (name: string): Promise<PodItem[]> =>
  listItems<PodItem>(fleet.b.cluster, NAMESPACE, 'pods', `app.kubernetes.io/instance=${name}`);

async function answers(pod: PodItem, login: { username: string; password: string }): Promise<boolean> {
  const host = pod.status.podIP;
  if (host === undefined) return false;
  const port = pod.metadata.name.includes('-sentinel-') ? 26379 : 6379;
  const redis = new Redis({ host, port, ...login, lazyConnect: true, connectTimeout: 500, retryStrategy: null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/** Ms from the answer of the last pod to the first write that is taken. */
async function measureHealing(name: string, spec: object): Promise<number> {
  const { cluster } = fleet.b;
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec });
  await waitLocallyReady(cluster, NAMESPACE, name);
  const client = await connectClient(cluster, NAMESPACE, name);
  for (let key = 0; key < 100; key += 1) await client.set(`key-${key}`, 'kept');
  await client.call('WAIT', '1', '5000');
  client.disconnect();
  const { username = '', password = '' } = await readConnection(cluster, NAMESPACE, name);
  const before = await podsOf(name);
  const uids = new Set(before.map((pod) => pod.metadata.uid));
  await kubectl(cluster, [
    'delete',
    'pods',
    '-n',
    NAMESPACE,
    '-l',
    `app.kubernetes.io/instance=${name}`,
    '--wait=false',
  ]);
  await waitFor(
    `every pod of ${name} is new and answers`,
    async () => {
      const pods = await podsOf(name);
      if (pods.length < before.length || pods.some((pod) => uids.has(pod.metadata.uid))) return false;
      return (await Promise.all(pods.map((pod) => answers(pod, { username, password })))).every(Boolean);
    },
    120_000,
  );
  const answeredAt = performance.now();
  const again = await waitFor(`${name} takes a write`, async () => {
    const writer = await connectClient(cluster, NAMESPACE, name);
    try {
      await writer.set('after', 'outage');
      return writer;
    } catch (error) {
      writer.disconnect();
      throw error;
    }
  });
  const healedMs = performance.now() - answeredAt;
  const values = await again.mget(Array.from({ length: 100 }, (_, key) => `key-${key}`));
  expect(values.every((value) => value === 'kept')).toBe(true);
  again.disconnect();
  await waitLocallyReady(cluster, NAMESPACE, name);
  return healedMs;
}

it('heals with every key, under Sentinel and without', async () => {
  const [sentinel, replication] = await Promise.all([
    measureHealing('watched', { ...SENTINEL_SPEC, ...DURABLE }),
    measureHealing('plain', { ...REPLICATION_SPEC, ...DURABLE }),
  ]);
  const ms = (value: number): string => `${Math.round(value)} ms`;
  console.log(
    `full outage: a write ${ms(sentinel)} after the last pod answers under Sentinel, ${ms(replication)} without`,
  );
  expect(Math.max(sentinel, replication)).toBeLessThan(15_000);
}, 300_000);
