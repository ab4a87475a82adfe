/**
 * What the agent takes for a death, and what it does not. A killed process is failed over from within about a second; a
 * frozen, a slow and a cut-off one are left to Sentinel, and without Sentinel nobody is promoted until the primary must
 * have fenced itself. A primary whose pod is deleted or evicted does not die at all: it hands over first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startLedger, type LedgerReport } from '../tools/ledger/start-ledger.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import { applyRedisCluster, dataPods, kubectl, makeNamespace, readLocal, waitFor, waitLocallyReady } from './member.ts';
import { withServerProcess } from './signal-redis.ts';
import { DURABLE, REPLICATION_SPEC, SENTINEL_SPEC } from './specs.ts';

const NAMESPACE = 'failover';
/** Sentinel's own down-after is 5 s; together with its election nothing of its own is faster than this. */
const SENTINEL_ALONE_MS = 5_000;
let fleet: Fleet;

const make = async (name: string, spec: object): Promise<string> => {
  await applyRedisCluster(fleet.a.cluster, { namespace: NAMESPACE, name, spec });
  const ready = await waitLocallyReady(fleet.a.cluster, NAMESPACE, name);
  return String(ready.status?.currentPrimary);
};

/** The list is bounded, so by time. */
const actionsSince = async (name: string, since: string): Promise<readonly string[]> => {
  const { status } = (await readLocal(fleet.a.cluster, NAMESPACE, name)) ?? {};
  return (status?.decisions ?? []).filter(({ time }) => time >= since).map(({ action }) => action);
};

/** What was done since then that only a proof of death, or of a fenced primary, allows. */
const promotionsSince = async (name: string, since: string): Promise<readonly string[]> =>
  (await actionsSince(name, since)).filter((action) => /FailOverBySentinel|PromotePod/.test(action));

const now = (): string => new Date().toISOString();

const movedFrom = (name: string, old: string): Promise<string> =>
  waitFor(
    `${name} has another primary than ${old}`,
    async () => {
      const primary = (await readLocal(fleet.a.cluster, NAMESPACE, name))?.status?.currentPrimary;
      return primary !== undefined && primary !== old && primary;
    },
    60_000,
  );

const print = (what: string, report: LedgerReport): void =>
  console.log(
    `failover: ${what}: engine gap ${Math.round(report.longestEngineGapMs)} ms, client gap ` +
      `${Math.round(report.longestClientGapMs)} ms, ${report.acknowledged} writes, ${report.lost.length} lost`,
  );

beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
}, 240_000);
afterAll(() => cleanUp(fleet, fleet.a, NAMESPACE));

it('a killed process is failed over from at once, by Sentinel and without', async () => {
  const { cluster } = fleet.a;
  const replication = { ...REPLICATION_SPEC, ...DURABLE, size: 3 };
  const [sentinelPrimary, plainPrimary] = await Promise.all([
    make('killed', { ...SENTINEL_SPEC, ...DURABLE }),
    make('plain', replication),
  ]);
  for (const [name, primary, action] of [
    ['killed', sentinelPrimary, 'FailOverBySentinel'],
    ['plain', plainPrimary, 'PromotePod'],
  ] as const) {
    const since = now();
    const ledger = await startLedger(cluster, NAMESPACE, name);
    await sleep(1_000);
    await withServerProcess(cluster, NAMESPACE, primary, 'kill -9 $pid');
    await movedFrom(name, primary);
    await waitLocallyReady(cluster, NAMESPACE, name);
    const report = await ledger.finish();
    print(`${name}, kill -9`, report);
    expect(report.lost).toEqual([]);
    expect(report.longestEngineGapMs).toBeLessThan(SENTINEL_ALONE_MS);
    expect((await promotionsSince(name, since)).join()).toContain(action);
  }
}, 240_000);

const DELETE = {
  'kubectl delete pod': (pod: string) =>
    kubectl(fleet.a.cluster, ['delete', 'pod', pod, '-n', NAMESPACE, '--wait=false']),
  'the eviction API, as a drain uses it': (pod: string) => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: NAMESPACE } };
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction`;
    return kubectl(fleet.a.cluster, ['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
  },
} as const;

it('a primary whose pod is deleted hands over before it goes, by Sentinel and without: nothing is lost', async () => {
  const { cluster } = fleet.a;
  const endGracefully = async (name: string, how: keyof typeof DELETE): Promise<void> => {
    const primary = String((await waitLocallyReady(cluster, NAMESPACE, name)).status?.currentPrimary);
    const since = now();
    const ledger = await startLedger(cluster, NAMESPACE, name);
    await sleep(1_000);
    await DELETE[how](primary);
    await movedFrom(name, primary);
    await waitLocallyReady(cluster, NAMESPACE, name);
    const report = await ledger.finish();
    print(`${name}, ${how}`, report);
    expect(report.lost).toEqual([]);
    expect((await actionsSince(name, since)).join()).toContain('SwitchOver');
    expect(await promotionsSince(name, since)).toEqual([]);
  };
  await endGracefully('killed', 'the eviction API, as a drain uses it');
  await Promise.all([endGracefully('killed', 'kubectl delete pod'), endGracefully('plain', 'kubectl delete pod')]);
}, 240_000);

it('a slow, then a frozen, then a cut-off primary is not taken for dead', async () => {
  const { cluster } = fleet.a;
  const [slow, cut] = ['killed', 'plain'];
  const primaryOf = async (name: string): Promise<string> =>
    String((await waitLocallyReady(cluster, NAMESPACE, name)).status?.currentPrimary);

  const slowPrimary = await primaryOf(slow);
  const since = now();
  // A second stopped, a tenth running: commands time out again and again.
  const steps = Array.from({ length: 5 }, () => 'kill -STOP $pid; sleep 1; kill -CONT $pid; sleep 0.1').join('; ');
  await withServerProcess(cluster, NAMESPACE, slowPrimary, steps);
  expect(await promotionsSince(slow, since)).toEqual([]);

  const frozen = await primaryOf(slow);
  await withServerProcess(cluster, NAMESPACE, frozen, 'kill -STOP $pid');
  const cutPrimary = await primaryOf(cut);
  const nodeName = String(
    (await dataPods(cluster, NAMESPACE, cut)).find((pod) => pod.metadata.name === cutPrimary)?.spec.nodeName,
  );
  const node = cluster.node(Number(nodeName.slice(nodeName.lastIndexOf('-') + 1)));
  await node.partition('all');
  try {
    await sleep(8_000);
    expect(await promotionsSince(slow, since)).toEqual([]);
    expect(await promotionsSince(cut, since)).toEqual([]);
  } finally {
    await node.heal();
    await withServerProcess(cluster, NAMESPACE, frozen, 'kill -CONT $pid');
  }
  await Promise.all([slow, cut].map((name) => waitLocallyReady(cluster, NAMESPACE, name)));
  expect(await promotionsSince(slow, since)).toEqual([]);
}, 240_000);
