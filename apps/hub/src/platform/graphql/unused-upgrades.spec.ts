import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { endUnusedUpgrades, keepUpgrade } from './unused-upgrades.ts';

let server: Server;
let upgraded: Duplex[] = [];
beforeEach(async () => {
  upgraded = [];
  server = createServer();
  server.on('upgrade', (_, socket) => upgraded.push(socket.on('error', () => undefined)));
  endUnusedUpgrades(server, 50);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  for (const socket of upgraded) socket.destroy();
  await new Promise((done) => server.close(done));
});

async function upgrade(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  socket.write('GET / HTTP/1.1\r\nHost: hub\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const before = upgraded.length;
  await expect.poll(() => upgraded.length).toBe(before + 1);
  return socket;
}

describe('an upgraded connection', () => {
  it('that is not used is ended, one that is used stays', async () => {
    const used = await upgrade();
    keepUpgrade(upgraded[0] as Duplex);
    const unused = await upgrade();
    await expect.poll(() => unused.closed).toBe(true);
    expect(used.closed).toBe(false);
    used.destroy();
  });
});
