/** spec.config on real servers: what is set live, what is refused and by whom, what somebody changed by hand, what restarts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminCli } from './admin-cli.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  dataPods,
  getItem,
  kubectl,
  makeNamespace,
  readLocal,
  waitFor,
  waitLocallyReady,
} from './member.ts';
import { AGENT_NAMESPACE } from './outage.ts';
import { REPLICATION_SPEC } from './specs.ts';

const NAMESPACE = 'configuration';
const NAME = 'tuned';
let fleet: Fleet;

interface ConfigSeen {
  readonly applied: number;
  readonly pendingRestart?: readonly string[];
  readonly rejected?: readonly { readonly key: string; readonly reason: string; readonly value?: string }[];
}

const setConfig = (config: Readonly<Record<string, string>>): Promise<void> =>
  applyRedisCluster(fleet.b.cluster, { namespace: NAMESPACE, name: NAME, spec: { ...REPLICATION_SPEC, config } });

const configOf = async (): Promise<ConfigSeen | undefined> => {
  const { status, metadata } = (await readLocal(fleet.b.cluster, NAMESPACE, NAME)) ?? {};
  if (status?.observedGeneration !== metadata?.generation) return undefined;
  return (status as { readonly config?: ConfigSeen } | undefined)?.config;
};

const waitForConfig = (what: string, accept: (config: ConfigSeen) => boolean): Promise<ConfigSeen> =>
  waitFor(
    what,
    async () => {
      const config = await configOf();
      return config !== undefined && accept(config) ? config : undefined;
    },
    120_000,
  );

const onEveryPod = async (commands: readonly string[]): Promise<string[]> => {
  const { cluster } = fleet.b;
  const pods = await dataPods(cluster, NAMESPACE, NAME);
  const ask = ({ metadata: { name } }: (typeof pods)[number]) =>
    adminCli(cluster, { namespace: NAMESPACE, name, instance: NAME }, commands);
  return Promise.all(pods.map(ask));
};

const FIRST = { hz: '50', databases: '32', 'no-such-directive': '1', loglevel: 'loud', timeout: '5' };
const LIVE = {
  databases: '32',
  hz: '60',
  'maxmemory-policy': 'ALLKEYS-LRU',
  'repl-backlog-size': '2MB',
  save: '3600 1  300 100',
  'notify-keyspace-events': 'EKA',
  'client-output-buffer-limit': 'pubsub 8mb 2mb 60',
  'slave-serve-stale-data': 'yes',
  'hash-max-ziplist-entries': '96',
};

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.b.cluster, NAMESPACE);
});
afterAll(async () => {
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

it('a directive that the server refuses keeps no pod from starting, and each one is told with its reason', async () => {
  await setConfig(FIRST);
  await waitLocallyReady(fleet.b.cluster, NAMESPACE, NAME);
  const { applied, rejected = [] } = await waitForConfig(
    'three are rejected',
    (config) => config.rejected?.length === 3,
  );
  expect(applied).toBe(2);
  const reasons = Object.fromEntries(rejected.map(({ key, reason }) => [key, reason]));
  expect(reasons['loglevel']).toMatch(/^Redis 8\.0\.\d+ refused it: .*notice/);
  expect(reasons['no-such-directive']).toMatch(/does not know this directive/);
  expect(reasons['timeout']).toMatch(/less than 30 s/);
  for (const answer of await onEveryPod(['CONFIG GET hz', 'CONFIG GET databases', 'CONFIG GET loglevel'])) {
    expect(answer).toMatch(/hz\s+50\s+databases\s+32\s+loglevel\s+notice/);
  }
  const log = await kubectl(fleet.b.cluster, ['logs', '-n', NAMESPACE, `statefulset/${await statefulSet()}`]);
  expect(log).toContain("left out 'loglevel loud', which this server refuses");
});

const statefulSet = async (): Promise<string> =>
  (await dataPods(fleet.b.cluster, NAMESPACE, NAME))[0]?.metadata.name.replace(/-\d+$/, '') ?? '';

/** By the agent's own count: the pods' entrypoint uses CONFIG SET too, when its settings change. */
const countSetConfig = async (): Promise<number> => {
  const found = await getItem(fleet.b.cluster, AGENT_NAMESPACE, 'service', 'atoll-agent-metrics');
  const response = await fetch(`http://${(found?.spec as { clusterIP: string }).clusterIP}:8080/metrics`);
  return Number(/^atoll_agent_actions_total\{kind="SetConfig"\} (\d+)$/m.exec(await response.text())?.[1]);
};

it('directives are set live on every pod without a restart, once, whatever their spelling', async () => {
  const before = (await dataPods(fleet.b.cluster, NAMESPACE, NAME)).map(({ metadata }) => metadata.uid);
  await setConfig(LIVE);
  await waitForConfig('all are applied', ({ applied }) => applied === Object.keys(LIVE).length);
  const settled = await countSetConfig();
  expect(settled).toBeGreaterThan(0);
  const answers = await onEveryPod([
    'CONFIG GET maxmemory-policy',
    'CONFIG GET save',
    'CONFIG GET notify-keyspace-events',
  ]);
  for (const answer of answers)
    expect(answer).toMatch(/allkeys-lru\s+save\s+3600 1 300 100\s+notify-keyspace-events\s+AKE/);
  await sleep(11_000); // more than one resync
  expect(await countSetConfig()).toBe(settled);
  expect((await dataPods(fleet.b.cluster, NAMESPACE, NAME)).map(({ metadata }) => metadata.uid)).toEqual(before);
});

it('what somebody changes by hand is set back', async () => {
  const changedAt = performance.now();
  await onEveryPod(['CONFIG SET hz 11 save ""']);
  await waitFor('both are set back', async () => {
    const answers = await onEveryPod(['CONFIG GET hz', 'CONFIG GET save']);
    return answers.every((answer) => /hz\s+60\s+save\s+3600 1 300 100/.test(answer));
  });
  const seconds = (performance.now() - changedAt) / 1_000;
  console.error(`e2e: drift of directives taken back after ${seconds.toFixed(1)} s (a resync is 10 s)`);
});

it('what only a start takes is pending until the pods were rolled', async () => {
  await setConfig({ ...LIVE, databases: '48' });
  await waitForConfig('databases is pending', ({ pendingRestart = [] }) => pendingRestart.includes('databases'));
  await waitFor(
    'every pod runs it',
    async () => {
      const answers = await onEveryPod(['CONFIG GET databases']);
      return answers.length === 2 && answers.every((answer) => /databases\s+48/.test(answer));
    },
    120_000,
  );
  await waitForConfig('all are applied', ({ applied }) => applied === Object.keys(LIVE).length);
});
