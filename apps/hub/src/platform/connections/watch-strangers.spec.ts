import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { createCertificateAuthority, issueServerCertificate, type PemPair } from '../tls/certificate-authority.ts';
import { markKnown, watchStrangers } from './watch-strangers.ts';

let pair: PemPair;
let server: Server | undefined;
let clients: Socket[] = [];
beforeAll(async () => {
  const nowMs = Date.now();
  pair = await issueServerCertificate(await createCertificateAuthority(nowMs), ['localhost'], nowMs);
});
// Node's own sockets have timers that these are not.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(async () => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) client.destroy();
  await new Promise((done) => server?.close(done));
});

/** `/known` marks its connection. */
async function listen(options?: { max: number }): Promise<number> {
  server = createServer({ cert: pair.certificate, key: pair.privateKey }, (request, response) => {
    if (request.url === '/known') markKnown(request.socket);
    response.end();
  });
  watchStrangers(server, options);
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}
function keep<T extends Socket>(socket: T): T {
  clients.push(socket);
  socket.on('error', () => undefined).resume();
  return socket;
}
async function openTls(port: number): Promise<TLSSocket> {
  const socket = keep(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }));
  await once(socket, 'secureConnect');
  return socket;
}
const untilClosed = (socket: Socket): Promise<void> =>
  new Promise((done) => (socket.closed ? done() : socket.once('close', () => done())));
async function ask(socket: Socket, path: string): Promise<void> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: hub\r\n\r\n`);
  await once(socket, 'data');
}

describe('a connection on which no valid token came', () => {
  it('is ended after a while, whatever it does: no byte, no request, or many requests', async () => {
    const port = await listen();
    const silent = keep(connectTcp(port, '127.0.0.1'));
    const idle = await openTls(port);
    const busy = await openTls(port);
    const known = await openTls(port);
    await ask(known, '/known');
    await ask(busy, '/');
    vi.advanceTimersByTime(29_000);
    await ask(busy, '/');
    vi.advanceTimersByTime(1_000);
    await Promise.all([silent, idle, busy].map(untilClosed));
    expect(known.closed).toBe(false);
    await ask(known, '/');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives way to a newer one when there are too many; a known one never does', async () => {
    const port = await listen({ max: 2 });
    const known = await openTls(port);
    await ask(known, '/known');
    const first = await openTls(port);
    await openTls(port);
    await openTls(port);
    await untilClosed(first);
    await ask(known, '/');
  });
});
