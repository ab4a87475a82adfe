/**
 * What the e2e files share: two real member clusters, a real hub with its PostgreSQL, an agent installed in each by the
 * command the hub prints. Started once, by the first file that asks; all files run in one process in turn, and the
 * clusters end with it. A file that breaks something puts it right again in its `afterAll`.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimPorts } from '#testing';
import { enrolCluster, type EnrolledCluster } from '../tools/fleet/member-cluster.ts';
import { startHub, type HubProcess } from '../tools/fleet/hub-process.ts';
import {
  buildAgentImage,
  ensureEngineImage,
  ensureHelm,
  LocalKubernetes,
  type LocalCluster,
} from '../tools/local-kubernetes/index.ts';

export interface MemberCluster extends EnrolledCluster {
  readonly cluster: LocalCluster;
}

export interface Fleet {
  readonly kubernetes: LocalKubernetes;
  /** Three nodes with short grace periods: the one for deaths of nodes. */
  readonly a: MemberCluster;
  /** One node. */
  readonly b: MemberCluster;
  readonly agentImage: string;
  readonly helm: string;
  /** Where the hub's data lies. */
  readonly hubDataDir: string;
  /** The hub as it runs now; files that restart it replace it here. */
  hub: HubProcess;
}

const log = (line: string): void => console.error(`e2e: ${line}`);

async function start(): Promise<Fleet> {
  const [redis8, redis7, valkey8, agent, helm] = [
    await ensureEngineImage('redis:8.0', log),
    await ensureEngineImage('redis:7.0', log),
    await ensureEngineImage('valkey:8.1', log),
    await buildAgentImage({ bundlePath: 'dist/agent/agent.cjs', log }),
    await ensureHelm(log),
  ];
  const images = [redis8, redis7, valkey8].flatMap((image) => ('path' in image ? [image.path] : []));
  const kubernetes = await LocalKubernetes.start({
    clusters: [
      { name: 'a', nodes: 3, shortGracePeriods: true },
      { name: 'b', nodes: 1 },
    ],
    images: [...images, agent.path],
    log,
  });
  const hubDataDir = mkdtempSync(join(tmpdir(), 'atoll-e2e-hub-'));
  // The hub is to come back on the ports it had.
  const [apiPort = 0, agentPort = 0] = await claimPorts(2);
  const hub = await startHub({
    dataDir: hubDataDir,
    publicHost: kubernetes.cluster('a').hostAddress,
    apiPort,
    agentPort,
  });
  const enrol = async (name: string, region: string): Promise<MemberCluster> => {
    const cluster = kubernetes.cluster(name);
    const enrolled = await enrolCluster(hub.api, cluster, { helm, agentImage: agent.reference, region });
    return { ...enrolled, cluster };
  };
  const [a, b] = await Promise.all([enrol('a', 'eu'), enrol('b', 'us')]);
  return { kubernetes, a, b, agentImage: agent.reference, helm, hubDataDir, hub };
}

const shared = globalThis as { atollFleet?: Promise<Fleet> };

/** The fleet of this run; the first call starts it, which takes about half a minute. */
export function sharedFleet(): Promise<Fleet> {
  shared.atollFleet ??= start();
  return shared.atollFleet;
}

/** Starts the hub again on the data and the ports it had, as its supervisor would. */
export async function restartHub(fleet: Fleet): Promise<void> {
  const port = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1));
  fleet.hub = await startHub({
    dataDir: fleet.hubDataDir,
    publicHost: fleet.a.cluster.hostAddress,
    apiPort: Number(new URL(fleet.hub.apiUrl).port),
    agentPort: port(fleet.hub.agentAddress),
  });
}
