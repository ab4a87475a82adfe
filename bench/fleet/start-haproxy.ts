import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDebianPackages, findCommand } from '../../tools/setup/ensure-debian-packages.ts';

export interface Haproxy {
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

export interface HaproxyPlan {
  readonly processes: number;
  /** Connections that each process holds at most. */
  readonly each: number;
}

interface Ports {
  readonly agent: number;
  readonly front: number;
}

const START_DEADLINE_MS = 10_000;

/**
 * Ends TLS with the hub's own certificate, and hands the bytes on. Several processes listen on one port: the kernel
 * spreads what comes over them.
 */
const configure = (certificateFile: string, ports: Ports, connections: number): string => `
global
  maxconn ${connections}
  nbthread 1
defaults
  mode tcp
  timeout connect 10s
  timeout client 90s
  timeout server 90s
listen agents
  bind 127.0.0.1:${ports.front} ssl crt ${certificateFile} backlog 8192
  server hub 127.0.0.1:${ports.agent}
`;

/** HAProxy in front of the agents' listener; installs the Debian package when it is missing and this is root. */
export async function startHaproxy(dataDir: string, ports: Ports, plan: HaproxyPlan): Promise<Haproxy> {
  await ensureDebianPackages({ haproxy: 'haproxy' }, (line) => console.error(line));
  const program = (await findCommand('haproxy')) ?? 'haproxy';
  const read = (name: string): Promise<string> => readFile(join(dataDir, 'tls', name), 'utf8');
  const bundle = join(dataDir, 'haproxy.pem');
  await writeFile(bundle, `${await read('server.crt')}\n${await read('server.key')}\n`, { mode: 0o600 });
  const file = join(dataDir, 'haproxy.cfg');
  await writeFile(file, configure(bundle, ports, plan.each));
  const children = Array.from({ length: plan.processes }, () =>
    spawn('setpriv', ['--pdeathsig', 'TERM', '--', program, '-db', '-f', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(end));
  };
  for (const deadline = performance.now() + START_DEADLINE_MS; !(await answers(ports.front)); await sleep(50)) {
    if (children.every(isRunning) && performance.now() < deadline) continue;
    await stop();
    throw new Error('haproxy does not start; what it said is above');
  }
  return { pids: children.map((child) => child.pid ?? 0), stop };
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

async function end(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
