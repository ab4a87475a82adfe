// `npm run demo`: a hub and two member clusters on this machine, a Sentinel Redis in each, made through the public API.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAgent } from '../build/build-agent.ts';
import { buildHub } from '../build/build-all.ts';
import { startHub, type HubProcess } from '../fleet/hub-process.ts';
import { enrolCluster } from '../fleet/member-cluster.ts';
import { createRedisCluster, isReady, waitForRedisCluster } from '../fleet/redis-cluster.ts';
import { existingClusters, localClusters, type DemoClusters } from './demo-clusters.ts';
import { parseDemoOptions, USAGE, type DemoOptions } from './demo-options.ts';
import { Steps } from './demo-steps.ts';
import { describeNextCommands } from './next-commands.ts';
import { proveWriteAndRead } from './prove-write-and-read.ts';

const NAMESPACE = 'demo';
const NAME = 'orders-cache';
const SPEC = {
  engine: { type: 'REDIS', version: '8.0' },
  mode: 'SENTINEL',
  size: 3,
  resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '256Mi' } },
};

interface Running {
  clusters?: DemoClusters;
  hub?: HubProcess;
  dataDir?: string;
}

async function stop(running: Running): Promise<void> {
  await running.hub?.stop();
  await running.clusters?.stop();
  if (running.dataDir !== undefined) await rm(running.dataDir, { recursive: true, force: true });
}

async function createEverywhere(hub: HubProcess, clusters: DemoClusters, steps: Steps): Promise<string[]> {
  const members = await steps.run(`agents: installed with Helm, enrolled, approved`, () =>
    Promise.all(clusters.members.map((member) => enrolCluster(hub.api, member, clusters.install(member)))),
  );
  const created = await steps.run('createRedisCluster in each, through the GraphQL API', () =>
    Promise.all(
      members.map(({ memberClusterId }) =>
        createRedisCluster(hub.api, { memberClusterId, namespace: NAMESPACE, name: NAME, spec: SPEC }),
      ),
    ),
  );
  await steps.run('both Ready: one primary, two replicas, three sentinels', () =>
    Promise.all(
      created.map(({ id }) => waitForRedisCluster(hub.api, id, isReady, { what: 'Ready', timeoutMs: 180_000 })),
    ),
  );
  return created.map(({ id }) => id);
}

/** The clusters take longest; the hub is compiled meanwhile. Both are awaited, so that a failure of one leaves none behind. */
async function prepare(options: DemoOptions, steps: Steps, running: Running): Promise<DemoClusters> {
  await steps.run('build of the agent', buildAgent);
  const startClusters = async (): Promise<void> => {
    running.clusters = await (options.kubeconfig === undefined
      ? localClusters(steps.log)
      : existingClusters(options, steps.log));
  };
  const results = await Promise.allSettled([
    steps.run('build of the hub', buildHub),
    steps.run('member clusters', startClusters),
  ]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  if (running.clusters === undefined) throw new Error('no member clusters');
  return running.clusters;
}

async function run(options: DemoOptions, steps: Steps, running: Running): Promise<void> {
  const clusters = await prepare(options, steps, running);
  running.dataDir = await mkdtemp(join(tmpdir(), 'atoll-demo-'));
  const { dataDir } = running;
  running.hub = await steps.run('hub with its own PostgreSQL', () =>
    startHub({ dataDir, publicHost: clusters.hubHost, environment: 'demo' }),
  );
  const { hub } = running;
  const ids = await createEverywhere(hub, clusters, steps);
  const proofs = await steps.run('a key written and read by way of Sentinel', () =>
    Promise.all(clusters.members.map((member) => proveWriteAndRead(clusters.kubectl(member), NAMESPACE, NAME))),
  );
  const summary = {
    ok: true,
    totalSeconds: steps.totalSeconds,
    steps: steps.records,
    redisClusters: clusters.members.map((member, index) => ({
      memberCluster: member.name,
      id: ids[index],
      ...proofs[index],
    })),
  };
  if (options.json) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  else
    console.error(
      describeNextCommands({ hub, clusters, namespace: NAMESPACE, name: NAME, totalSeconds: steps.totalSeconds }),
    );
}

async function main(): Promise<void> {
  const options = parseDemoOptions(process.argv.slice(2));
  const steps = new Steps((line) => console.error(line));
  const running: Running = {};
  const interrupted = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  try {
    const finished = run(options, steps, running).then(() => (options.exit ? undefined : interrupted));
    await Promise.race([finished, interrupted]);
  } finally {
    console.error('stopping: hub, PostgreSQL and what this demo started …');
    await stop(running);
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof TypeError || error instanceof Error === false) console.error(USAGE);
  process.exit(1);
}
