// A cluster-wide agent and the agent of one namespace: a namespace changes hands both ways in the middle of a rollout.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../tools/setup/run-command.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  getItem,
  kubectl,
  makeNamespace,
  readLocal,
  redisCli,
  waitFor,
  waitLocallyReady,
} from './member.ts';
import { REPLICATION_SPEC } from './specs.ts';

const NAMESPACE = 'scopes';
const NARROW = 'atoll-agent-scopes';
let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
});
afterAll(async () => {
  await runCommand([fleet.helm, 'uninstall', NARROW, '-n', NAMESPACE, '--kubeconfig', fleet.b.cluster.kubeconfigPath]);
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

const installNarrow = async (): Promise<void> => {
  const colon = fleet.agentImage.lastIndexOf(':');
  const image = `image.repository=${fleet.agentImage.slice(0, colon)},image.tag=${fleet.agentImage.slice(colon + 1)}`;
  const kubeconfig = ['--kubeconfig', fleet.b.cluster.kubeconfigPath, '-n', NAMESPACE];
  await runCommand([
    fleet.helm,
    'install',
    NARROW,
    'helm/atoll-agent',
    ...kubeconfig,
    '--set',
    `${image},scope=namespace`,
  ]);
};

const scope = async (): Promise<Readonly<Record<string, string>>> =>
  (await getItem(fleet.b.cluster, NAMESPACE, 'configmap', 'atoll-scope'))?.data ?? {};
const waitForOwner = (owner: string): Promise<unknown> =>
  waitFor(`owner ${owner}`, async () => (await scope())['owner'] === owner, 75_000);
const change = (databases: string): Promise<void> =>
  applyRedisCluster(fleet.b.cluster, {
    namespace: NAMESPACE,
    name: 'shared',
    spec: { ...REPLICATION_SPEC, config: { databases } },
  });
const isRolling = (): Promise<unknown> =>
  waitFor(
    'a rollout',
    async () => (await readLocal(fleet.b.cluster, NAMESPACE, 'shared'))?.status?.phase === 'Updating',
  );

it('changes hands both ways in the middle of a rollout, which the next owner finishes', async () => {
  const { cluster } = fleet.b;
  await change('16');
  const ready = await waitLocallyReady(cluster, NAMESPACE, 'shared');
  expect(await scope()).toEqual({ owner: 'CLUSTER' });
  await redisCli(cluster, NAMESPACE, ready.status?.currentPrimary ?? '', ['SET kept yes', 'WAIT 1 2000']);

  await installNarrow();
  await change('8');
  await waitForOwner(`NAMESPACE/${NAMESPACE}`);
  expect(await scope()).toEqual({ owner: `NAMESPACE/${NAMESPACE}`, releasedBy: 'CLUSTER' });
  await waitLocallyReady(cluster, NAMESPACE, 'shared');

  await change('4');
  await isRolling();
  const request = '{"data":{"requestedBy":"CLUSTER"}}';
  await kubectl(cluster, ['patch', 'configmap', 'atoll-scope', '-n', NAMESPACE, '--type=merge', '-p', request]);
  await waitForOwner('CLUSTER');
  expect(await scope()).toEqual({ owner: 'CLUSTER', releasedBy: `NAMESPACE/${NAMESPACE}` });
  const after = await waitLocallyReady(cluster, NAMESPACE, 'shared');
  const primary = after.status?.currentPrimary ?? '';
  expect(await redisCli(cluster, NAMESPACE, primary, ['GET kept'])).toContain('yes');
  const pending = after.status?.conditions?.find(({ type }) => type === 'RestartPending');
  expect(pending?.status).toBe('False');
});
