import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureDebianPackages, findCommand } from '../../tools/setup/ensure-debian-packages.ts';

export interface Haproxy {
  readonly pid: number;
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 10_000;

/** Ends TLS with the hub's own certificate, and hands the bytes on: a session costs it two sockets and two small buffers. */
const configure = (certificateFile: string, ports: { agent: number; front: number }, connections: number): string => `
global
  maxconn ${connections * 2 + 1_000}
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
export async function startHaproxy(
  dataDir: string,
  ports: { readonly agent: number; readonly front: number },
  clusters: number,
): Promise<Haproxy> {
  await ensureDebianPackages({ haproxy: 'haproxy' }, (line) => console.error(line));
  const program = (await findCommand('haproxy')) ?? 'haproxy';
  const read = (name: string): Promise<string> => readFile(join(dataDir, 'tls', name), 'utf8');
  const bundle = join(dataDir, 'haproxy.pem');
  await writeFile(bundle, `${await read('server.crt')}${await read('server.key')}`, { mode: 0o600 });
  const file = join(dataDir, 'haproxy.cfg');
  await writeFile(file, configure(bundle, ports, clusters));
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', program, '-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  for (const end = performance.now() + START_DEADLINE_MS; ; await sleep(50)) {
    if (await answers(ports.front)) break;
    if (child.exitCode !== null || performance.now() > end)
      throw new Error('haproxy does not start; what it said is above');
  }
  return { pid: child.pid ?? 0, stop };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
