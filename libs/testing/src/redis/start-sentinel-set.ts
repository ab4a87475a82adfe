/**
 * A Sentinel data set of real servers on loopback, without Kubernetes: for rules and executors that must be shown on the
 * engine itself. Free ports, a folder that goes with it, and every process stopped by its id.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisLink, SentinelLink } from '#redis';

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

/** Resolves when every replica is linked and every Sentinel knows all replicas and peers. */
export const startSentinelSet = async (options: SentinelSetOptions): Promise<SentinelSet> => {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-set-'));
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(stopChild));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const ports = await freePorts(options.size + options.sentinels);
    const start = (name: string, port: number, lines: readonly string[], words: readonly string[]) =>
      startServer({ folder, name, port, lines, command: [...options.server], words, children });
    const data = await Promise.all(
      ports.slice(0, options.size).map(async (port, ordinal) => ({
        ...(await start(`redis-${ordinal}`, port, dataLines(options, ordinal, ports[0] ?? 0), [])),
        link: new RedisLink({ host: HOST, port, credentials: noLogin }),
      })),
    );
    const sentinels = await Promise.all(
      ports.slice(options.size).map(async (port, ordinal) => ({
        ...(await start(`sentinel-${ordinal}`, port, sentinelLines(options, ports[0] ?? 0), ['--sentinel'])),
        link: new SentinelLink({ host: HOST, port, credentials: noLogin }),
      })),
    );
    const set: SentinelSet = {
      data,
      sentinels,
      stop: async () => {
        for (const { link } of [...data, ...sentinels]) link.close();
        await stop();
      },
    };
    await awaitReady(set, options);
    return set;
  } catch (error) {
    await stop();
    throw error;
  }
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
  readonly folder: string;
  readonly name: string;
  readonly port: number;
  readonly lines: readonly string[];
  readonly command: readonly string[];
  readonly words: readonly string[];
  readonly children: ChildProcess[];
}

const startServer = async ({ folder, name, port, lines, command, words, children }: ServerStart) => {
  const home = join(folder, name);
  await mkdir(home);
  const config = [`port ${port}`, `bind ${HOST}`, 'protected-mode no', `dir ${home}`, ...lines, ''].join('\n');
  await writeFile(join(home, 'server.conf'), config);
  const [program = '', ...args] = [...command, join(home, 'server.conf'), ...words];
  const child = spawn(program, args, { stdio: 'ignore' });
  children.push(child);
  return { name, port, pid: child.pid ?? 0 };
};

const stopChild = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
};

const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, HOST, () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
};

const awaitReady = async (set: SentinelSet, options: SentinelSetOptions): Promise<void> => {
  const endMs = performance.now() + READY_WITHIN_MS;
  while (!(await isReady(set, options))) {
    if (performance.now() > endMs) throw new Error('The servers did not become ready in time.');
    await sleep(100);
  }
};

const isReady = async ({ data, sentinels }: SentinelSet, options: SentinelSetOptions): Promise<boolean> => {
  const nodes = await Promise.all(data.map(({ link }) => link.probe()));
  const views = await Promise.all(sentinels.map(({ link }) => link.probe(options.masterName)));
  const linked = nodes.every((facts, index) => facts.reachable && (index === 0 || facts.linkUp === true));
  const watched = views.every(
    (facts) =>
      facts.reachable &&
      facts.knownReplicas === options.size - 1 &&
      facts.otherSentinels === options.sentinels - 1 &&
      facts.quorumOk,
  );
  return linked && watched;
};
