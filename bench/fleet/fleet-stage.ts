/**
 * Everything one run needs, each as its own process: the built hub with its PostgreSQL, a seeded fleet in it, HAProxy when
 * TLS ends in front, and the simulator. Whatever was started is stopped in the opposite order, also when a step fails.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { claimPort } from '#testing';
import { startHub, type HubProcess } from '../../tools/fleet/hub-process.ts';
import { readUsage, readUsageOfAll, type Usage } from './process-usage.ts';
import { planHaproxy } from './raise-file-limit.ts';
import { seedFleet } from './seed-fleet.ts';
import { SimulatorProcess } from './simulator-process.ts';
import { monotonicMs } from './simulator/messages.ts';
import { startHaproxy, type Haproxy } from './start-haproxy.ts';

export type TlsForm = 'hub' | 'haproxy';
export type Log = (line: string) => void;

export interface StageOptions {
  readonly clusters: number;
  readonly tls: TlsForm;
  readonly log: Log;
  /** Open files that a process may have. */
  readonly fileLimit: number;
  /** A folder for CPU profiles of the hub; absent: none are taken. */
  readonly profileDir?: string;
}

export interface Usages {
  readonly atMs: number;
  readonly hub: Usage;
  readonly postgres: Usage;
  readonly simulator: Usage;
  readonly haproxy: Usage | undefined;
}

export interface FleetStage {
  readonly clusters: number;
  readonly log: Log;
  readonly database: pg.Client;
  readonly simulator: SimulatorProcess;
  readonly seedSeconds: number;
  hub(): HubProcess;
  /** SIGKILL, then a start on the same folder, ports and PostgreSQL. Resolves when the hub serves again. */
  killAndRestart(): Promise<{ readonly killedAtMs: number; readonly hub: HubProcess }>;
  usages(): Usages;
  stop(): Promise<void>;
}

const PUBLIC_HOST = 'localhost';

interface Ports {
  readonly agent: number;
  readonly front: number;
}

function hubOptions(dataDir: string, ports: Ports, { tls, profileDir }: StageOptions): Parameters<typeof startHub>[0] {
  const env = {
    ATOLL_LOG_LEVEL: 'warn',
    ATOLL_LISTEN_ADDRESS: '127.0.0.1',
    ATOLL_PUBLIC_AGENT_ADDRESS: `${PUBLIC_HOST}:${tls === 'haproxy' ? ports.front : ports.agent}`,
    ...(tls === 'haproxy' ? { ATOLL_AGENT_TLS: 'off' } : {}),
    ...(profileDir === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDir}` }),
  };
  return { dataDir, publicHost: PUBLIC_HOST, agentPort: ports.agent, env };
}

export async function startStage(options: StageOptions): Promise<FleetStage> {
  const { clusters, tls, log } = options;
  const cleanUps: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp().catch((error: unknown) => log(String(error)));
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  };
  // What still runs then would end with this process (see startHub); the folder would stay.
  const interrupted = (): void => void stop().finally(() => process.exit(130));
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'atoll-fleet-'));
    cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
    const ports = { agent: await claimPort(), front: await claimPort() };
    const start = (): Promise<HubProcess> => startHub(hubOptions(dataDir, ports, options));
    let hub = await start();
    cleanUps.push(() => hub.stop());
    const seedBegan = performance.now();
    const hubEpoch = await seedFleet(hub.databaseUrl, clusters);
    const seedSeconds = (performance.now() - seedBegan) / 1000;
    log(`seeded ${clusters} member clusters in ${seedSeconds.toFixed(1)} s`);
    await hub.stop('SIGKILL'); // a hub that has never seen the empty fleet; its PostgreSQL stays
    hub = await start();
    const haproxy =
      tls === 'haproxy' ? await startHaproxy(dataDir, ports, planHaproxy(clusters, options.fileLimit)) : undefined;
    if (haproxy) cleanUps.push(() => haproxy.stop());
    const database = new pg.Client({ connectionString: hub.databaseUrl });
    await database.connect();
    cleanUps.push(() => database.end());
    const simulator = await SimulatorProcess.start({
      fromAgent: 0,
      toAgent: clusters,
      hubAddress: `${PUBLIC_HOST}:${tls === 'haproxy' ? ports.front : ports.agent}`,
      caPem: await readFile(hub.caFile, 'utf8'),
      hubEpoch,
    });
    cleanUps.push(() => simulator.stop());
    const postgresPid = await readPostgresPid(database);
    return {
      clusters,
      log,
      database,
      simulator,
      seedSeconds,
      hub: () => hub,
      killAndRestart: async () => {
        const killedAtMs = monotonicMs();
        await hub.stop('SIGKILL');
        hub = await start();
        return { killedAtMs, hub };
      },
      usages: () => readAll({ hub, postgresPid, simulator, haproxy }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The postmaster: parent of the process that serves this connection. */
async function readPostgresPid(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const text = await readFile(`/proc/${rows[0]?.pid ?? 0}/stat`, 'utf8');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
}

function readAll(from: {
  readonly hub: HubProcess;
  readonly postgresPid: number;
  readonly simulator: SimulatorProcess;
  readonly haproxy: Haproxy | undefined;
}): Usages {
  return {
    atMs: monotonicMs(),
    hub: readUsage(from.hub.pid),
    postgres: readUsage(from.postgresPid),
    simulator: readUsage(from.simulator.pid),
    haproxy: from.haproxy ? readUsageOfAll(from.haproxy.pids) : undefined,
  };
}
