/**
 * A Sentinel data set of real servers on loopback, without Kubernetes: for rules and executors that must be shown on the
 * engine itself. Free ports, a folder that goes with it, and every process stopped by its id.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisLink, SentinelLink } from '#redis';
import { claimPorts } from '../ports/claim-ports.ts';

export interface SentinelSetOptions {
  /** The words that start redis-server. */
  readonly server: readonly [string, ...string[]];
  /** Primary and replicas; the first one begins as primary. */
  readonly size: number;
  readonly sentinels: number;
  readonly downAfterMs: number;
  readonly masterName: string;
  /** Lines for every data node. */
  readonly config?: readonly string[];
}

export interface RunningServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

export interface SentinelSet {
  readonly data: readonly (RunningServer & { readonly link: RedisLink })[];
  readonly sentinels: readonly (RunningServer & { readonly link: SentinelLink })[];
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const READY_WITHIN_MS = 20_000;
const noLogin = (): undefined => undefined;

/**
 * Resolves when every replica is linked and every Sentinel knows all replicas and peers. Sentinels are started after that:
 * they ask the primary for its replicas at their first connection, and then only every ten seconds.
 */
export const startSentinelSet = async (options: SentinelSetOptions): Promise<SentinelSet> => {
  const folder = await mkdtemp(join(await findFolder(), 'sentinel-set-'));
  const children: StartedServer[] = [];
  const data: SentinelSet['data'][number][] = [];
  const sentinels: SentinelSet['sentinels'][number][] = [];
  const stop = async (): Promise<void> => {
    for (const { link } of [...data, ...sentinels]) link.close();
    await Promise.all(children.map(({ child }) => stopChild(child)));
    await rm(folder, { recursive: true, force: true });
  };
  const set: SentinelSet = { data, sentinels, stop };
  const ports = await claimPorts(options.size + options.sentinels);
  const primaryPort = ports[0] ?? 0;
  const start = async (name: string, port: number, lines: readonly string[], words: readonly string[] = []) => {
    const server = await startServer({ home: join(folder, name), name, port, lines, command: options.server, words });
    children.push(server);
    return { name, port, pid: server.child.pid ?? 0 };
  };
  try {
    for (const [ordinal, port] of ports.slice(0, options.size).entries()) {
      const server = await start(`redis-${ordinal}`, port, dataLines(options, ordinal, primaryPort));
      data.push({ ...server, link: new RedisLink({ host: HOST, port, credentials: noLogin }) });
    }
    await awaitReady(children, () => findUnlinked(set));
    for (const [ordinal, port] of ports.slice(options.size).entries()) {
      const server = await start(`sentinel-${ordinal}`, port, sentinelLines(options, primaryPort), ['--sentinel']);
      sentinels.push({ ...server, link: new SentinelLink({ host: HOST, port, credentials: noLogin }) });
    }
    await awaitReady(children, () => findUnaware(set, options));
    return set;
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * In memory where the machine offers that: a Sentinel writes each thing it learns to its file and waits for the disk; when
 * that takes two seconds it thinks that its clock jumped and decides nothing for half a minute (TILT).
 */
const findFolder = async (): Promise<string> => {
  const memory = '/dev/shm';
  return access(memory, constants.W_OK).then(
    () => memory,
    () => tmpdir(),
  );
};

const dataLines = ({ config = [], size }: SentinelSetOptions, ordinal: number, primaryPort: number): string[] => [
  'save ""',
  'repl-diskless-sync-delay 0',
  ...(size > 1 ? ['min-replicas-to-write 1', 'min-replicas-max-lag 10'] : []),
  ...(ordinal === 0 ? [] : [`replicaof ${HOST} ${primaryPort}`]),
  ...config,
];

const sentinelLines = ({ masterName, sentinels, downAfterMs }: SentinelSetOptions, primaryPort: number): string[] => [
  `sentinel monitor ${masterName} ${HOST} ${primaryPort} ${Math.floor(sentinels / 2) + 1}`,
  `sentinel down-after-milliseconds ${masterName} ${downAfterMs}`,
  `sentinel failover-timeout ${masterName} 15000`,
];

interface ServerStart {
  readonly home: string;
  readonly name: string;
  readonly port: number;
  readonly lines: readonly string[];
  readonly command: readonly [string, ...string[]];
  readonly words: readonly string[];
}

interface StartedServer {
  readonly name: string;
  readonly child: ChildProcess;
  readonly logFile: string;
}

const startServer = async ({ home, name, port, lines, command, words }: ServerStart): Promise<StartedServer> => {
  await mkdir(home);
  const logFile = join(home, 'server.log');
  const own = [`port ${port}`, `bind ${HOST}`, 'protected-mode no', `dir ${home}`, `logfile ${logFile}`];
  await writeFile(join(home, 'server.conf'), [...own, ...lines, ''].join('\n'));
  const [program, ...args] = [...command, join(home, 'server.conf'), ...words] as [string, ...string[]];
  return { name, child: spawn(program, args, { stdio: 'ignore' }), logFile };
};

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
};

/** Throws with what is missing, and the last words of a server that ended. */
const awaitReady = async (servers: readonly StartedServer[], findMissing: () => Promise<string[]>): Promise<void> => {
  const endMs = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const ended = servers.find(({ child }) => child.exitCode !== null || child.signalCode !== null);
    if (ended !== undefined) throw new Error(`${ended.name} ended at its start:\n${await readTail(ended)}`);
    const missing = await findMissing();
    if (missing.length === 0) return;
    if (performance.now() > endMs) {
      const logs = await Promise.all(servers.map(async (server) => `${server.name}:\n${await readTail(server)}`));
      throw new Error(`Not ready after ${READY_WITHIN_MS} ms: ${missing.join('; ')}\n${logs.join('\n')}`);
    }
    await sleep(50);
  }
};

const readTail = async ({ logFile }: StartedServer): Promise<string> =>
  (await readFile(logFile, 'utf8').catch(() => 'no log')).trimEnd().split('\n').slice(-8).join('\n');

const findUnlinked = async ({ data }: SentinelSet): Promise<string[]> => {
  const nodes = await Promise.all(data.map(({ link }) => link.probe()));
  return nodes.flatMap((facts, index) =>
    facts.reachable && (index === 0 || facts.linkUp === true) ? [] : [`redis-${index} says ${JSON.stringify(facts)}`],
  );
};

const findUnaware = async ({ sentinels }: SentinelSet, options: SentinelSetOptions): Promise<string[]> => {
  const views = await Promise.all(sentinels.map(({ link }) => link.probe(options.masterName)));
  return views.flatMap((facts, index) =>
    facts.reachable &&
    facts.knownReplicas === options.size - 1 &&
    facts.otherSentinels === options.sentinels - 1 &&
    facts.quorumOk
      ? []
      : [`sentinel-${index} says ${JSON.stringify(facts)}`],
  );
};
