import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GraphqlClient } from './graphql-client.ts';

export interface HubOptions {
  /** Postgres, TLS, tokens and logs of this hub live here. */
  readonly dataDir: string;
  /** Host name or address under which agents dial this machine. */
  readonly publicHost: string;
  readonly environment?: 'demo' | 'development' | 'production';
  /** Ports; absent: any free one. */
  readonly apiPort?: number;
  readonly agentPort?: number;
  readonly replicaName?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Folder that holds dist/, package.json and node_modules; absent: this one. */
  readonly programDir?: string;
}

/** What the hub writes to ready.json once it serves. */
export interface HubReady {
  readonly apiUrl: string;
  readonly agentAddress: string;
  readonly metricsUrl: string;
  readonly caFile: string;
  readonly adminTokenFile: string;
  readonly databaseUrl: string;
  readonly pid: number;
}

export interface HubProcess extends HubReady {
  readonly api: GraphqlClient;
  readonly logFile: string;
  readonly process: ChildProcess;
  readonly startMs: number;
  /** Sends the signal and waits for the end of the process. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const START_DEADLINE_MS = 60_000;

const tail = (file: string): string => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');

async function waitReady(readyFile: string, child: ChildProcess, logFile: string): Promise<HubReady> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the hub ended at its start:\n${tail(logFile)}`);
    try {
      const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as HubReady;
      if (ready.pid === child.pid) return ready;
    } catch {
      // not written yet
    }
    await sleep(25);
  }
  child.kill('SIGKILL');
  throw new Error(`the hub was not ready after ${START_DEADLINE_MS / 1000} s:\n${tail(logFile)}`);
}

/**
 * The hub gets SIGTERM when this process ends, however it ends, and then stops its PostgreSQL: nothing is left behind by
 * a killed demo or test run.
 */
const UNTIL_WE_DIE = ['setpriv', '--pdeathsig', 'TERM', '--'] as const;

/** Starts the built hub as its own process and waits until it serves. Throws with the tail of its log when it does not. */
export async function startHub(options: HubOptions): Promise<HubProcess> {
  mkdirSync(options.dataDir, { recursive: true });
  chmodSync(options.dataDir, 0o755); // PostgreSQL runs as another user and has to pass through
  const logFile = join(options.dataDir, `hub-${options.replicaName ?? 'a'}.log`);
  const readyFile = join(options.dataDir, 'ready.json');
  rmSync(readyFile, { force: true });
  const startedAt = performance.now();
  const [command, ...prefix] = UNTIL_WE_DIE;
  const child = spawn(command, [...prefix, process.execPath, '-C', 'atoll-dist', 'dist/apps/hub/src/main.js'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.programDir === undefined ? {} : { cwd: options.programDir }),
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      ATOLL_DATA_DIR: options.dataDir,
      ATOLL_ENVIRONMENT: options.environment ?? 'development',
      ATOLL_API_PORT: String(options.apiPort ?? 0),
      ATOLL_AGENT_PORT: String(options.agentPort ?? 0),
      ATOLL_METRICS_PORT: '0',
      ATOLL_PUBLIC_AGENT_ADDRESS: `${options.publicHost}:${options.agentPort ?? 0}`,
      ATOLL_REPLICA_NAME: options.replicaName ?? 'a',
      ...options.env,
    },
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ready = await waitReady(readyFile, child, logFile);
  // A further hub on one database makes no token of its own.
  const token = existsSync(ready.adminTokenFile) ? readFileSync(ready.adminTokenFile, 'utf8').trim() : '';
  const api = new GraphqlClient({ url: `${ready.apiUrl}/graphql`, caFile: ready.caFile, token });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    await api.close();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return { ...ready, api, logFile, process: child, startMs: performance.now() - startedAt, stop };
}
