/** Two primaries: the one that the record does not name is fenced, kept as a file on its volume, and follows again. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  dataPods,
  kubectl,
  listItems,
  makeNamespace,
  readLocal,
  redisCli,
  waitFor,
  waitLocallyReady,
} from './member.ts';
import { DURABLE, REPLICATION_SPEC } from './specs.ts';

const NAMESPACE = 'split-brain';
const NAME = 'rival';
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
}, 240_000);
afterAll(() => cleanUp(fleet, fleet.b, NAMESPACE));

/** With every right, as the agent has: what a person does by mistake on the wrong pod. */
async function connectAsOperator(host: string): Promise<Redis> {
  const secrets = await listItems(fleet.b.cluster, NAMESPACE, 'secrets');
  const credentials = secrets.find(({ metadata }) => metadata.name.endsWith('-credentials'));
  const password = Buffer.from(credentials?.data?.['atoll'] ?? '', 'base64').toString();
  return new Redis({ host, port: 6379, username: 'atoll', password });
}

it('a replica that somebody made primary loses, and what it took is set aside on its volume', async () => {
  const { cluster } = fleet.b;
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name: NAME, spec: { ...REPLICATION_SPEC, ...DURABLE } });
  const ready = await waitLocallyReady(cluster, NAMESPACE, NAME);
  const client = await connectClient(cluster, NAMESPACE, NAME);
  expect(await client.set('common', 'truth')).toBe('OK');
  expect(await client.call('WAIT', '1', '5000')).toBe(1);

  const pods = await dataPods(cluster, NAMESPACE, NAME);
  const loser = pods.find((pod) => pod.metadata.name !== ready.status?.currentPrimary);
  const name = String(loser?.metadata.name);
  const rival = await connectAsOperator(String(loser?.status.podIP));
  await rival
    .pipeline()
    .call('REPLICAOF', 'NO', 'ONE')
    .config('SET', 'min-replicas-to-write', '0')
    .set('only-here', 'diverged-value')
    .exec();
  expect(await rival.get('only-here')).toBe('diverged-value');
  rival.disconnect();

  const kept = await waitFor('the data of the loser is set aside', async () =>
    (await readLocal(cluster, NAMESPACE, NAME))?.status?.setAside?.find(({ pod }) => pod === name),
  );
  await waitFor('the loser follows again', async () =>
    (await redisCli(cluster, NAMESPACE, name, ['INFO replication'])).includes('master_link_status:up'),
  );
  const file = `/data/${kept.file}`;
  const inFile = await kubectl(cluster, [
    'exec',
    '-n',
    NAMESPACE,
    name,
    '-c',
    'redis',
    '--',
    'grep',
    '-ac',
    'diverged-value',
    file,
  ]);
  expect(Number(inFile)).toBe(1);
  expect(await redisCli(cluster, NAMESPACE, name, ['GET common', 'GET only-here'])).not.toContain('diverged-value');
  expect(await client.get('common')).toBe('truth');
  // It was paused while it was kept from clients; a replica that stays paused has its link up and applies nothing.
  // A primary counts its replicas once a second, and refuses writes until it has counted enough.
  await waitFor('the primary takes writes', async () =>
    (await client.set('after', 'the fence').catch(() => 'refused')) === 'OK' ? true : undefined,
  );
  expect(await client.call('WAIT', String(pods.length - 1), '5000')).toBe(pods.length - 1);
  const after = await waitLocallyReady(cluster, NAMESPACE, NAME);
  expect(after.status?.currentPrimary).toBe(ready.status?.currentPrimary);
  const events = await kubectl(cluster, [
    'get',
    'events.events.k8s.io',
    '-n',
    NAMESPACE,
    '-o',
    'jsonpath={.items[*].reason}',
  ]);
  expect(events).toContain('SettingAside');
  client.disconnect();
}, 240_000);
