/**
 * The first figures of the whole path, on two member clusters: from a mutation to the custom resource, from a mutation
 * to a Ready Redis, memory of an idle agent, start of the hub. Peers: Karmada's published figures (its pull mode is the
 * nearest to ours), and for readiness a plain StatefulSet of three Redis pods started in the same run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAll } from '../../tools/build/build-all.ts';
import { localClusters, type DemoClusters } from '../../tools/demo/demo-clusters.ts';
import { startHub, type HubProcess } from '../../tools/fleet/hub-process.ts';
import { enrolCluster } from '../../tools/fleet/member-cluster.ts';
import { asBenchRow, percentile, type BenchFigure, type BenchRow } from '../bench-row.ts';
import { measureAgentMemory } from './measure-agent-memory.ts';
import { measureApplyLatency } from './measure-apply-latency.ts';
import { measureReadiness } from './measure-readiness.ts';

/** Karmada 1.3, pull mode, 100 clusters: distribution latency P50 and P99, and its agent's memory. */
const KARMADA = { p50Ms: 612, p99Ms: 989, agentMib: 266 };
const HUB_STARTS = 5;
const log = (line: string): void => console.error(line);

async function measureHubStarts(publicHost: string): Promise<{ first: number; warm: number[] }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atoll-bench-start-'));
  const starts: number[] = [];
  for (let run = 0; run <= HUB_STARTS; run += 1) {
    const hub = await startHub({ dataDir, publicHost });
    starts.push(hub.startMs);
    await hub.stop();
  }
  await rm(dataDir, { recursive: true, force: true });
  const [first = 0, ...warm] = starts;
  return { first, warm };
}

async function measureFleet(hub: HubProcess, clusters: DemoClusters): Promise<BenchFigure[]> {
  const members = await Promise.all(
    clusters.members.map(async (member) => ({
      access: member,
      kubectl: clusters.kubectl(member),
      ...(await enrolCluster(hub.api, member, clusters.install(member))),
    })),
  );
  log('agents connected; waiting for them to be idle');
  const memoryMib = await measureAgentMemory();
  log('change → custom resource');
  const latenciesMs = await measureApplyLatency(hub.api, members);
  log('mutation → Ready, beside a plain StatefulSet');
  const readiness = await measureReadiness(hub.api, members);
  return [
    {
      name: 'change → CR applied, P50',
      value: percentile(latenciesMs, 0.5),
      unit: 'ms',
      peer: 'Karmada 1.3 pull, published',
      peerValue: KARMADA.p50Ms,
    },
    {
      name: 'change → CR applied, P99',
      value: percentile(latenciesMs, 0.99),
      unit: 'ms',
      peer: 'Karmada 1.3 pull, published',
      peerValue: KARMADA.p99Ms,
      goal: 250,
    },
    {
      name: 'agent memory, idle (RSS)',
      value: memoryMib,
      unit: 'MiB',
      peer: 'Karmada agent, published',
      peerValue: KARMADA.agentMib,
      goal: 70,
    },
    {
      name: 'mutation → Ready, Sentinel of three',
      value: readiness.readyMs / 1000,
      unit: 's',
      peer: 'plain StatefulSet of three, this run',
      peerValue: readiness.plainMs / 1000,
    },
    { name: '  of that: until the pods run', value: readiness.podsMs / 1000, unit: 's' },
    { name: '  of that: ours, before and after', value: (readiness.readyMs - readiness.podsMs) / 1000, unit: 's' },
  ];
}

export async function runSkeleton(): Promise<BenchRow[]> {
  await buildAll();
  const clusters = await localClusters(log);
  const dataDir = await mkdtemp(join(tmpdir(), 'atoll-bench-'));
  try {
    const starts = await measureHubStarts(clusters.hubHost);
    const hub = await startHub({ dataDir, publicHost: clusters.hubHost });
    try {
      const figures = await measureFleet(hub, clusters);
      const startRows: BenchFigure[] = [
        { name: 'hub start, own PostgreSQL, first', value: starts.first, unit: 'ms' },
        {
          name: 'hub start, own PostgreSQL, again (median)',
          value: percentile(starts.warm, 0.5),
          unit: 'ms',
          goal: 3000,
        },
      ];
      return [...figures, ...startRows].map(asBenchRow);
    } finally {
      await hub.stop();
    }
  } finally {
    await clusters.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
