// A namespace of a mesh: every peer is seen by another source address than it announces, as behind a sidecar or a NAT.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  getItem,
  kubectl,
  listItems,
  makeNamespace,
  readConnection,
  redisCli,
  waitFor,
  waitLocallyReady,
  type PodItem,
} from './member.ts';
import { SENTINEL_SPEC } from './specs.ts';

const NAMESPACE = 'mesh';
const NODES = [1, 2, 3];
let fleet: Fleet;

/** Packets to Redis and Sentinel leave a node with the node's own address. */
async function masquerade(on: boolean): Promise<void> {
  const commands = [
    'add table ip atoll_mesh',
    'add chain ip atoll_mesh post { type nat hook postrouting priority 90 ; }',
    'add rule ip atoll_mesh post oifname eth0 tcp dport { 6379, 26379 } masquerade',
  ];
  for (const node of NODES) {
    for (const command of on ? commands : ['delete table ip atoll_mesh']) {
      const { exitCode, stderr } = await fleet.a.cluster.node(node).exec(['nft', command]);
      if (exitCode !== 0) throw new Error(`nft ${command}: ${stderr}`);
    }
  }
}

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
  await masquerade(true);
});
afterAll(async () => {
  await masquerade(false);
  await cleanUp(fleet, fleet.a, NAMESPACE);
});

const pods = (): Promise<PodItem[]> => listItems<PodItem>(fleet.a.cluster, NAMESPACE, 'pods');
const addressesOf = async (component: string): Promise<string[]> =>
  (await pods())
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === component)
    .map(({ status }) => status.podIP ?? '')
    .sort();

/** What a Sentinel knows of the data set: addresses of replicas or of other Sentinels. */
async function askSentinel(pod: string, subcommand: string, masterName: string): Promise<string[]> {
  const { username, password } = await readConnection(fleet.a.cluster, NAMESPACE, 'meshed');
  const input = `AUTH ${username ?? ''} ${password ?? ''}\nSENTINEL ${subcommand} ${masterName}\n`;
  const argv = ['exec', '-i', '-n', NAMESPACE, pod, '-c', 'sentinel', '--', 'redis-cli', '-p', '26379'];
  const lines = (await kubectl(fleet.a.cluster, argv, input)).split('\n');
  return lines.flatMap((line, index) => (line === 'ip' ? [lines[index + 1] ?? ''] : []));
}

/** As the operator's own user, who alone may list clients; the password goes through stdin. */
async function askAsOperator(pod: string, masterName: string, commands: readonly string[]): Promise<string> {
  const { cluster } = fleet.a;
  const secret = await getItem(cluster, NAMESPACE, 'secret', `${masterName}-credentials`);
  const password = Buffer.from(secret?.data?.['atoll'] ?? '', 'base64').toString();
  const input = [`AUTH atoll ${password}`, ...commands, ''].join('\n');
  return kubectl(cluster, ['exec', '-i', '-n', NAMESPACE, pod, '-c', 'redis', '--', 'redis-cli'], input);
}

/** Every Sentinel knows all by what they announce, and nobody else. */
async function expectAnnouncedOnly(masterName: string): Promise<void> {
  const [data, sentinels] = [await addressesOf('redis'), await addressesOf('sentinel')];
  const sentinelPods = (await pods()).filter(
    ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'sentinel',
  );
  expect(sentinelPods).toHaveLength(3);
  for (const { metadata, status } of sentinelPods) {
    const [primary] = await askSentinel(metadata.name, 'master', masterName);
    const replicas = await askSentinel(metadata.name, 'replicas', masterName);
    expect([primary, ...replicas].sort()).toEqual(data);
    const others = await askSentinel(metadata.name, 'sentinels', masterName);
    expect([status.podIP, ...others].sort()).toEqual(sentinels);
  }
}

it('is created, fails over and heals while peers see other source addresses than the announced ones', async () => {
  const { cluster } = fleet.a;
  const spec = { ...SENTINEL_SPEC, networking: { mesh: 'Istio' }, sentinel: { downAfter: '2s' } };
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name: 'meshed', spec });
  const before = (await waitLocallyReady(cluster, NAMESPACE, 'meshed')).status?.currentPrimary ?? '';
  const masterName = before.replace(/-\d+$/, '');
  const annotations = (await pods())[0]?.metadata.annotations ?? {};
  expect(annotations['traffic.sidecar.istio.io/excludeInboundPorts']).toBe('6379,26379');

  // The proof that the trick works: a replica's connection comes from a node, and is told by its own address.
  const data = await addressesOf('redis');
  const links = await askAsOperator(before, masterName, ['INFO replication', 'CLIENT LIST TYPE replica']);
  const sources = [...links.matchAll(/ addr=([\d.]+):/g)].map((match) => match[1] ?? '');
  const announced = [...links.matchAll(/^slave\d+:ip=([\d.]+),/gm)].map((match) => match[1] ?? '');
  expect(sources).toHaveLength(2);
  expect(sources.some((source) => !data.includes(source))).toBe(true);
  expect(announced.every((address) => data.includes(address))).toBe(true);
  await expectAnnouncedOnly(masterName);

  await redisCli(cluster, NAMESPACE, before, ['SET kept yes', 'WAIT 2 2000']);
  await kubectl(cluster, ['delete', 'pod', before, '-n', NAMESPACE, '--grace-period=0', '--force', '--wait=false']);
  const after = await waitFor('another primary, and all well', async () => {
    const { status } = await waitLocallyReady(cluster, NAMESPACE, 'meshed', 1_000);
    return status?.currentPrimary === before ? undefined : status?.currentPrimary;
  });
  expect(await redisCli(cluster, NAMESPACE, after, ['GET kept'])).toContain('yes');
  await waitFor('Sentinels that know the pods of now and no others', async () => {
    await expectAnnouncedOnly(masterName);
    return true;
  });
});
