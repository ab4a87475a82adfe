import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { claimPorts } from './claim-ports.ts';

const MODULE = fileURLToPath(new URL('claim-ports.ts', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const listen = async (port: number): Promise<Server> => {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

/** Another process that holds this port until it is killed. */
const claimElsewhere = async (port: number): Promise<ChildProcess> => {
  const script = `const { claimPorts } = await import(${JSON.stringify(MODULE)});
    console.log(await claimPorts(1, { first: ${port}, size: 1 }));
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  children.push(child);
  await once(child.stdout, 'data');
  return child;
};

describe('claimed ports', () => {
  it('lie outside of the range from which the system gives ports to connections, and are never given twice', async () => {
    const [lowest = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
    const ports = [...(await claimPorts(100)), ...(await claimPorts(100))];
    for (const port of ports) expect(port).toBeLessThan(lowest);
    expect(new Set(ports).size).toBe(200);
  });

  // From here on a range of one port that the system gave: what these tests do without a claim may meet no other's.
  it('leave out what somebody listens on', async () => {
    const server = await listen(0);
    const range = { first: portOf(server), size: 1 };
    await expect(claimPorts(1, range)).rejects.toThrow('Fewer than 1 ports are free');
    await close(server);
    expect(await claimPorts(1, range)).toEqual([range.first]);
    await close(await listen(range.first));
  });

  it('are not given to another process before theirs has ended, however it ends', async () => {
    const server = await listen(0);
    const range = { first: portOf(server), size: 1 };
    await close(server);
    const child = await claimElsewhere(range.first);
    await expect(claimPorts(1, range)).rejects.toThrow('Fewer than 1 ports are free');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await claimPorts(1, range)).toEqual([range.first]);
  });
});
