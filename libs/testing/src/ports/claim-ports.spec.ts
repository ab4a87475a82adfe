import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { claimPort, claimPorts } from './claim-ports.ts';

const MODULE = fileURLToPath(new URL('claim-ports.ts', import.meta.url));
/** Another process claims all ports that are left, and says which. */
const CLAIM_IN_CHILD = `
  const { claimPort } = await import(${JSON.stringify(MODULE)});
  const found = [];
  for (;;) { try { found.push(await claimPort()); } catch { break; } if (found.length === 300) break; }
  console.log(JSON.stringify(found));`;

describe('claimed ports', () => {
  it('lie outside of the range from which the system gives ports to connections', async () => {
    const [first = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
    for (const port of await claimPorts(5)) expect(port).toBeLessThan(first);
  });

  it('can be bound, are never given twice here, nor to another process while this one lives', async () => {
    const ours = [...(await claimPorts(200)), ...(await claimPorts(200))];
    expect(new Set(ours).size).toBe(400);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(ours[0], '127.0.0.1', resolve));
    server.close();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', CLAIM_IN_CHILD]);
    const theirs = JSON.parse(stdout) as number[];
    expect(theirs).toHaveLength(300);
    expect(theirs.filter((port) => ours.includes(port))).toEqual([]);
  });

  it('leave out what somebody listens on, and are free again when their process has ended', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', CLAIM_IN_CHILD]);
    const [port = 0] = JSON.parse(stdout) as number[];
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const claimed = await claimPorts(1_000);
    server.close();
    expect(claimed).not.toContain(port);
    expect(await claimPort()).not.toBe(0);
  });
});
