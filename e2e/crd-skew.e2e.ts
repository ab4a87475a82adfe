/**
 * The real agent of release 0.1.0, with that release's definition, at the hub of today: what it can hold is applied, what it
 * cannot is withheld and said, and comes by itself once the agent is upgraded. On a cluster of its own, since it begins
 * with that release's definitions.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHub, type HubProcess } from '../tools/fleet/hub-process.ts';
import { enrolCluster, expectNoUserErrors } from '../tools/fleet/member-cluster.ts';
import { createRedisCluster, mutateRedisCluster, waitForRedisCluster } from '../tools/fleet/redis-cluster.ts';
import {
  buildAgentImage,
  ensureEngineImage,
  ensureHelm,
  LocalKubernetes,
  type LocalCluster,
} from '../tools/local-kubernetes/index.ts';
import { runCommand } from '../tools/setup/run-command.ts';
import { getItem, makeNamespace, type KubeItem } from './member.ts';
import { AGENT_NAMESPACE } from './outage.ts';
import { buildReleasedAgent, type ReleasedAgent } from './released-agent.ts';
import { STANDALONE_INPUT } from './specs.ts';

const NAMESPACE = 'skew';
const WINDOWS = [{ start: '00:00', duration: '24h' }];

let kubernetes: LocalKubernetes;
let cluster: LocalCluster;
let hub: HubProcess;
let released: ReleasedAgent;
let present: { path: string; reference: string };
let helm: string;

beforeAll(async () => {
  const engine = await ensureEngineImage('redis:8.0');
  if ('unavailable' in engine) throw new Error(engine.reason);
  helm = await ensureHelm();
  released = await buildReleasedAgent('0.1.0');
  present = await buildAgentImage({ bundlePath: 'dist/agent/agent.cjs' });
  const images = [engine.path, released.image.path, present.path];
  kubernetes = await LocalKubernetes.start({ clusters: [{ name: 'skew', nodes: 1 }], images });
  cluster = kubernetes.cluster('skew');
  hub = await startHub({
    dataDir: mkdtempSync(join(tmpdir(), 'atoll-e2e-hub-skew-')),
    publicHost: cluster.hostAddress,
  });
});
afterAll(async () => {
  await hub.stop();
  await kubernetes.stop();
  await rm(released.tree, { recursive: true, force: true });
});

async function upgradeAgent(): Promise<void> {
  const flags = ['-n', AGENT_NAMESPACE, '--kubeconfig', cluster.kubeconfigPath];
  const colon = present.reference.lastIndexOf(':');
  const image = `image.repository=${present.reference.slice(0, colon)},image.tag=${present.reference.slice(colon + 1)}`;
  await runCommand([helm, 'upgrade', 'atoll-agent', 'helm/atoll-agent', ...flags, '--reuse-values', '--set', image]);
}

const readObject = (): Promise<KubeItem | undefined> => getItem(cluster, NAMESPACE, 'arc', 'cache');

it('is sent what its definition holds, is spared what it does not, and gets that with its upgrade', async () => {
  const charts = join(released.tree, 'helm');
  const { memberClusterId } = await enrolCluster(hub.api, cluster, {
    helm,
    agentImage: released.image.reference,
    charts,
  });
  await makeNamespace(cluster, NAMESPACE);
  const created = await createRedisCluster(hub.api, {
    memberClusterId,
    namespace: NAMESPACE,
    name: 'cache',
    spec: STANDALONE_INPUT,
  });
  const applied = { what: 'in sync', timeoutMs: 60_000 };
  await waitForRedisCluster(hub.api, created.id, ({ delivery }) => delivery.sync === 'IN_SYNC', applied);

  const spec = { ...STANDALONE_INPUT, maintenanceWindows: WINDOWS };
  expectNoUserErrors(await mutateRedisCluster(hub.api, 'update', { id: created.id, expectedGeneration: 1, spec }));
  const { delivery } = await waitForRedisCluster(hub.api, created.id, (view) => view.delivery.state === 'WAITING', {
    what: 'withheld',
    timeoutMs: 20_000,
  });
  expect(delivery).toMatchObject({ code: 'CRD_TOO_OLD', generation: 2 });
  expect(delivery.message).toMatch(/release 0\.1\.0 and does not know spec\.maintenanceWindows\./);
  const before = await readObject();
  expect(before?.metadata.annotations).toMatchObject({ 'redis.atoll.dev/hub-generation': '1' });

  await upgradeAgent();
  await waitForRedisCluster(hub.api, created.id, (view) => view.delivery.sync === 'IN_SYNC' && view.generation === 2, {
    what: 'in sync with the upgraded agent',
    timeoutMs: 90_000,
  });
  const after = await readObject();
  expect(after?.metadata).toMatchObject({
    uid: before?.metadata.uid,
    annotations: { 'redis.atoll.dev/hub-generation': '2' },
  });
  expect(after?.spec).toMatchObject({ maintenanceWindows: WINDOWS });
}, 300_000);
