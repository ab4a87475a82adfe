/**
 * From the agent of release 0.1.0 to the present one, under load: the upgrade restarts no pod and loses no write, and what
 * it finds is read right. The pods come to the new render version when a rollout or a window lets them, two RedisClusters at
 * a time. On a cluster of its own, since it begins with that release's definitions.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startLedger, type WriteLedger } from '../tools/ledger/start-ledger.ts';
import {
  buildAgentImage,
  ensureEngineImage,
  ensureHelm,
  LocalKubernetes,
  type LocalCluster,
} from '../tools/local-kubernetes/index.ts';
import { runCommand } from '../tools/setup/run-command.ts';
import { applyRedisCluster, listItems, makeNamespace, waitFor, waitLocallyReady, type PodItem } from './member.ts';
import { AGENT_NAMESPACE, agentPods } from './outage.ts';
import { buildReleasedAgent, type ReleasedAgent } from './released-agent.ts';
import { DURABLE, REPLICATION_SPEC, SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';
import { describePods, patchSpec, readRolling, tellFigures, waitRolled, type Watched } from './watch-rollout.ts';

const NAMESPACE = 'upgrade';
const SPECS = {
  watched: SENTINEL_SPEC,
  plain: REPLICATION_SPEC,
  single: { ...STANDALONE_SPEC, ...DURABLE },
};
const ALWAYS = [{ start: '00:00', duration: '24h' }];
/** Rollouts in these states wait for something of the user's, or for their turn. */
const AT_REST = new Set(['WaitingForTurn', 'OutsideMaintenanceWindow', 'RolloutPaused']);

let kubernetes: LocalKubernetes;
let cluster: LocalCluster;
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
  kubernetes = await LocalKubernetes.start({ clusters: [{ name: 'upgrade', nodes: 1 }], images });
  cluster = kubernetes.cluster('upgrade');
});
afterAll(async () => {
  await kubernetes.stop();
  await rm(released.tree, { recursive: true, force: true });
});

const installAgent = async (charts: string, reference: string): Promise<void> => {
  const colon = reference.lastIndexOf(':');
  const flags = [
    '--install',
    '--create-namespace',
    '--wait',
    '-n',
    AGENT_NAMESPACE,
    '--kubeconfig',
    cluster.kubeconfigPath,
  ];
  await runCommand([helm, 'upgrade', 'atoll-crds', join(charts, 'atoll-crds'), ...flags]);
  const image = `image.repository=${reference.slice(0, colon)},image.tag=${reference.slice(colon + 1)}`;
  await runCommand([helm, 'upgrade', 'atoll-agent', join(charts, 'atoll-agent'), ...flags, '--set', image]);
};
const watchedOf = (name: string): Watched => ({ cluster, namespace: NAMESPACE, name });
const everyPod = async (): Promise<readonly string[]> =>
  (await Promise.all(Object.keys(SPECS).map((name) => describePods(watchedOf(name))))).flat();

/** Highest number of RedisClusters that were in disruption at once, until stopped. */
const countDisruptions = (): (() => Promise<number>) => {
  let most = 0;
  let on = true;
  const looking = (async () => {
    while (on) {
      const all = await Promise.all(Object.keys(SPECS).map((name) => readRolling(watchedOf(name))));
      const reasons = all.flatMap((object) => object?.status?.rollout?.reason ?? []);
      most = Math.max(most, reasons.filter((reason) => !AT_REST.has(reason)).length);
    }
  })();
  return async () => {
    on = false;
    await looking;
    return most;
  };
};

it('restarts no pod and loses no write; a window then moves the pods, two RedisClusters at a time', async () => {
  await installAgent(join(released.tree, 'helm'), released.image.reference);
  await makeNamespace(cluster, NAMESPACE);
  for (const [name, spec] of Object.entries(SPECS))
    await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec });
  await Promise.all(Object.keys(SPECS).map((name) => waitLocallyReady(cluster, NAMESPACE, name)));
  const before = await everyPod();
  const options = { writers: 2, writePeriodMs: 40 };
  const ledgers: (readonly [string, WriteLedger])[] = [];
  for (const name of Object.keys(SPECS)) ledgers.push([name, await startLedger(cluster, NAMESPACE, name, options)]);

  await installAgent('helm', present.reference);
  for (const name of Object.keys(SPECS)) {
    const object = await waitFor(`${name} reported by the present agent`, async () => {
      const found = await readRolling(watchedOf(name));
      const isTold = found?.status?.conditions?.some(({ type }) => type === 'RestartPending') === true;
      return isTold && found.status?.phase === 'Ready' ? found : undefined;
    });
    expect(object.status).toMatchObject({ renderVersion: 1 });
  }
  expect(await everyPod()).toEqual(before);
  // The one before may still be on its way out: the present one acts as soon as it has the Lease.
  await waitFor('one agent', async () => (await agentPods(cluster)).length === 1);
  for (const [name, ledger] of ledgers) {
    const { longestEngineGapMs } = ledger.lap();
    console.error(`e2e: upgrade of the agent: longest gap of ${name} ${longestEngineGapMs} ms at the engine`);
    expect(ledger.errors).toBe(0);
  }

  const stopCounting = countDisruptions();
  await Promise.all(Object.keys(SPECS).map((name) => patchSpec(watchedOf(name), { maintenanceWindows: ALWAYS })));
  await Promise.all(
    Object.keys(SPECS).map(async (name) => {
      await waitFor(
        `${name} rendered as version 2`,
        async () => (await readRolling(watchedOf(name)))?.status?.renderVersion === 2,
        180_000, // the third has its turn when one of the others is through
      );
      await waitRolled(watchedOf(name));
    }),
  );
  expect(await stopCounting()).toBeLessThanOrEqual(2);
  expect((await everyPod()).filter((pod) => before.includes(pod))).toEqual([]);
  const pods = await listItems<PodItem>(cluster, NAMESPACE, 'pods');
  for (const { metadata } of pods) expect(metadata.annotations?.['redis.atoll.dev/render-version']).toBe('2');
  for (const [name, ledger] of ledgers) {
    const report = await ledger.finish();
    tellFigures(`render version 2 of ${name}`, report);
    expect(report.lost).toEqual([]);
  }
}, 300_000);
