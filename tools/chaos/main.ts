// `npm run chaos -- --seed N --minutes M`: seeded faults on a Sentinel Redis in a real cluster, while a client keeps a ledger of what
// was acknowledged by every copy and another one of all that was acknowledged at all. Ends with: converged, nothing missing that all
// copies had, no more lost of the rest than asynchronous replication declares, and no forbidden command ever sent.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildAll } from '../build/build-all.ts';
import { AGENT_BUNDLE } from '../build/build-agent.ts';
import { connectRedis, type Kubectl, readConnection } from '../fleet/connect-redis.ts';
import { startHub, type HubProcess } from '../fleet/hub-process.ts';
import { enrolCluster } from '../fleet/member-cluster.ts';
import { createRedisCluster, isReady, waitForRedisCluster } from '../fleet/redis-cluster.ts';
import { buildAgentImage, ensureEngineImage, ensureHelm, LocalKubernetes } from '../local-kubernetes/index.ts';
import { findForbidden, RecordingProxy } from '#testing';
import { startLedger, type LedgerReport } from '../ledger/start-ledger.ts';
import { chooseFault, LOSSY, seededRandom } from './choose-fault.ts';
import { inflictFault, type ChaosTarget } from './inflict-fault.ts';
import { Evidence } from './save-evidence.ts';
import { WriteLedger } from './write-ledger.ts';

const SPEC = {
  engine: { type: 'REDIS', version: '8.0' },
  mode: 'SENTINEL',
  size: 3,
  storage: { type: 'PERSISTENT_VOLUME', size: '128Mi' },
  persistence: { enabled: true },
  resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } },
};
const CONVERGE_MS = 180_000;
/** A Secret deleted by hand is missed within 60 s (Secrets are read by name, not watched), and then made again. */
const SECRET_BACK_MS = 90_000;
const log = (line: string): void => console.log(line);

/** Writes a second of the second ledger, and for how long a deposed primary may have taken some (max-lag and 2 s). */
const WRITERS = { writers: 2, writePeriodMs: 40, probePeriodMs: 20 };
const WRITES_A_SECOND = (WRITERS.writers * 1_000) / WRITERS.writePeriodMs;
const LOSS_WINDOW_S = 12;

interface Inflicted {
  /** When pods were deleted by these faults, on the clock of the proxy. */
  readonly deletedAtMs: readonly number[];
  readonly count: number;
  readonly lossy: number;
}

async function inflictUntil(target: ChaosTarget, seed: number, untilMs: number): Promise<Inflicted> {
  const random = seededRandom(seed);
  const deletedAtMs: number[] = [];
  let count = 0;
  let lossy = 0;
  while (performance.now() < untilMs) {
    const chosen = chooseFault(random);
    log(`${new Date().toISOString()}  ${chosen.fault}`);
    if (chosen.fault.startsWith('delete the pod')) deletedAtMs.push(performance.now());
    await inflictFault(target, chosen);
    count += 1;
    if (LOSSY.has(chosen.fault)) lossy += 1;
    await sleep(chosen.pauseMs);
  }
  return { count, lossy, deletedAtMs };
}

/** From now on every connection of the agent to Redis and Sentinel goes through the proxy. */
async function recordAgent({ cluster }: ChaosTarget): Promise<RecordingProxy> {
  const proxy = await RecordingProxy.start(cluster.hostAddress);
  const setting = `ATOLL_TEST_REDIS_PROXY=${cluster.hostAddress}:${proxy.port}`;
  await cluster.kubectl(['set', 'env', 'deployment/atoll-agent', '-n', 'atoll-system', setting]);
  await cluster.kubectl(['rollout', 'status', 'deployment/atoll-agent', '-n', 'atoll-system', '--timeout=60s']);
  return proxy;
}

/** When Kubernetes itself deleted pods, of a node that was away for longer than they tolerate; on the clock of the proxy. */
async function readEvictions(kubectl: Kubectl, { namespace }: ChaosTarget): Promise<number[]> {
  const { items } = JSON.parse(await kubectl(['get', 'events', '-n', namespace, '-o', 'json'])) as {
    readonly items: readonly {
      readonly reason?: string;
      readonly firstTimestamp?: string;
      readonly eventTime?: string;
    }[];
  };
  return items.flatMap(({ reason, firstTimestamp, eventTime }) =>
    reason === 'TaintManagerEviction' ? Date.parse(firstTimestamp ?? eventTime ?? '') - performance.timeOrigin : [],
  );
}

function judgeProxy(proxy: RecordingProxy, deletedAtMs: readonly number[]): string[] {
  const names = new Set(proxy.commands.map(({ words }) => words[0] ?? ''));
  log(`${proxy.commands.length} commands of the agent recorded: ${[...names].sort().join(', ')}`);
  const forbidden = findForbidden(proxy.commands, deletedAtMs).map(({ words, why }) => `${words.join(' ')} ${why}`);
  return proxy.commands.length === 0 ? ['nothing recorded: this run proves nothing'] : forbidden.slice(0, 5);
}

const formatTime = (epochMs: number): string => new Date(epochMs).toISOString().slice(11, 23);

function judgeLedger(report: LedgerReport, { lossy }: Inflicted): string[] {
  const bound = lossy * LOSS_WINDOW_S * WRITES_A_SECOND;
  log(
    `${report.acknowledged} writes acknowledged, ${report.lost.length} lost (declared: ${bound}), ${report.errors} errors; longest gap ` +
      `${report.longestClientGapMs} ms at a client, ${report.longestEngineGapMs} ms at the engine; two primaries for ${report.twoPrimariesMs} ms`,
  );
  const { fromMs: gapFromMs, toMs: gapToMs } = report.engineGap;
  const since = (ms: number): string => formatTime(report.startedAtMs + ms);
  log(`longest gap at the engine: ${since(gapFromMs)} - ${since(gapToMs)}`);
  for (const { fromMs, toMs, count } of report.lostSpans)
    log(`lost: ${count} writes that were acknowledged ${formatTime(fromMs)} - ${formatTime(toMs)}`);
  return report.lost.length > bound ? [`${report.lost.length} acknowledged writes lost, declared are ${bound}`] : [];
}

/** What a client needs to come in is part of having converged. Throws when it does not come back in time. */
async function waitForConnection(kubectl: Kubectl, { namespace, name }: ChaosTarget): Promise<void> {
  const deadline = performance.now() + SECRET_BACK_MS;
  for (;;) {
    try {
      await readConnection(kubectl, namespace, name);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error('the connection Secret did not come back', { cause: error });
      await sleep(1_000);
    }
  }
}

async function runChaos(
  kubernetes: LocalKubernetes,
  hub: HubProcess,
  options: { seed: number; minutes: number; evidence?: string },
): Promise<string[]> {
  const cluster = kubernetes.cluster('chaos');
  const agent = await buildAgentImage({ bundlePath: AGENT_BUNDLE, log });
  await cluster.loadImage(agent.path);
  const helm = await ensureHelm(log);
  const { memberClusterId } = await enrolCluster(hub.api, cluster, { helm, agentImage: agent.reference });
  const target: ChaosTarget = { cluster, namespace: 'chaos', name: 'ledger' };
  const { id } = await createRedisCluster(hub.api, {
    memberClusterId,
    namespace: target.namespace,
    name: target.name,
    spec: SPEC,
  });
  await waitForRedisCluster(hub.api, id, isReady, { what: 'Ready' });

  const kubectl: Kubectl = async (args) => {
    const result = await cluster.kubectl(args);
    if (result.exitCode !== 0) throw new Error(result.stderr);
    return result.stdout;
  };
  const proxy = await recordAgent(target);
  const evidence = options.evidence === undefined ? undefined : await Evidence.start(options.evidence, target);
  const all = await startLedger(cluster, target.namespace, target.name, WRITERS);
  const client = await connectRedis(kubectl, target.namespace, target.name);
  client.on('error', () => undefined); // expected here: the ledger counts what was acknowledged
  const ledger = new WriteLedger(client, SPEC.size - 1);
  ledger.start();
  const inflicted = await inflictUntil(target, options.seed, performance.now() + options.minutes * 60_000);
  const report = await ledger.stop();
  log(
    `${inflicted.count} faults; ${report.attempted} writes, ${report.safe} on all copies; longest gap ${report.longestGapMs} ms`,
  );

  const failures: string[] = [];
  await waitForRedisCluster(hub.api, id, isReady, { what: 'converged', timeoutMs: CONVERGE_MS }).catch(
    (error: unknown) => {
      failures.push(`not converged: ${String(error)}`);
    },
  );
  await waitForConnection(kubectl, target);
  const deletedAtMs = [...inflicted.deletedAtMs, ...(await readEvictions(kubectl, target))];
  failures.push(...judgeLedger(await all.finish(), inflicted), ...judgeProxy(proxy, deletedAtMs));
  await evidence?.finish(proxy);
  await proxy.stop();
  const reader = await connectRedis(kubectl, target.namespace, target.name);
  const missing = await ledger.missing(reader);
  if (missing.length > 0)
    failures.push(
      `${missing.length} writes that every copy had acknowledged are missing, the first: ${missing[0] ?? ''}`,
    );
  if (report.safe < inflicted.count)
    failures.push(`only ${report.safe} writes reached all copies: this run proves nothing`);
  client.disconnect();
  reader.disconnect();
  return failures;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '3' },
    evidence: { type: 'string' },
  },
});
const options = { ...values, seed: Number(values.seed), minutes: Number(values.minutes) };
if (!Number.isInteger(options.seed) || !(options.minutes > 0)) {
  console.error(
    'usage: npm run chaos -- --seed N --minutes M [--evidence FOLDER: logs, events and commands are kept there]',
  );
  process.exit(2);
}
await buildAll();
const engine = await ensureEngineImage('redis:8.0', log);
if (!('path' in engine)) throw new Error(`the image redis:8.0 cannot be built: ${engine.reason}`);
const kubernetes = await LocalKubernetes.start({
  clusters: [{ name: 'chaos', nodes: 2, shortGracePeriods: true }],
  images: [engine.path],
  log,
});
const dataDir = await mkdtemp(join(tmpdir(), 'atoll-chaos-'));
const hub = await startHub({ dataDir, publicHost: kubernetes.cluster('chaos').hostAddress });
let failures: string[];
try {
  failures = await runChaos(kubernetes, hub, options);
} catch (error) {
  failures = [String(error)];
} finally {
  await hub.stop();
  await kubernetes.stop();
  await rm(dataDir, { recursive: true, force: true });
}
for (const failure of failures)
  log(`FAILED: ${failure}\nrepeat: npm run chaos -- --seed ${options.seed} --minutes ${options.minutes}`);
log(
  failures.length === 0
    ? '2 passed, 0 failed'
    : `${Math.max(0, 2 - failures.length)} passed, ${failures.length} failed`,
);
process.exit(failures.length === 0 ? 0 : 1);
