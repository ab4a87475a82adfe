import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FaultProxy } from './fault-proxy.ts';

let server: Server;
let proxy: FaultProxy;
/** What the target heard, in the order of arrival, and which of its connections closed. */
let heard: string[];
const accepted: Socket[] = [];
const dialled: Socket[] = [];

beforeEach(async () => {
  const told: string[] = (heard = []);
  server = createServer((socket) => {
    accepted.push(socket);
    socket.on('data', (data) => {
      told.push(data.toString());
      socket.write(`echo ${data.toString()}`);
    });
    socket.on('close', () => told.push('closed')).on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await FaultProxy.start('127.0.0.1', (server.address() as AddressInfo).port);
});

afterEach(async () => {
  for (const socket of [...dialled.splice(0), ...accepted.splice(0)]) socket.destroy();
  await proxy.stop();
  server.close();
});

interface Dialler {
  readonly socket: Socket;
  readonly got: string[];
}

function dial(): Dialler {
  const [host = '', port = ''] = proxy.address.split(':');
  const socket = connect(Number(port), host);
  dialled.push(socket);
  const got: string[] = [];
  socket.on('data', (data) => got.push(data.toString()));
  socket.on('close', () => got.push('closed')).on('error', () => undefined);
  return { socket, got };
}

/** Long enough for anything on the loopback that is not held. */
const settle = (): Promise<void> => sleep(60);

describe('the proxy', () => {
  it('passes bytes both ways and the end of either side', async () => {
    const { socket, got } = dial();
    socket.write('a');
    await vi.waitFor(() => expect(got).toEqual(['echo a']));
    socket.end();
    await vi.waitFor(() => expect(heard).toEqual(['a', 'closed']));
    await vi.waitFor(() => expect(proxy.open).toEqual([]));
  });

  it('cuts: both sides see it', async () => {
    const { socket, got } = dial();
    socket.write('a');
    await vi.waitFor(() => expect(got).toEqual(['echo a']));
    proxy.cut();
    await vi.waitFor(() => expect([heard.at(-1), got.at(-1)]).toEqual(['closed', 'closed']));
  });

  it('half-open: nothing passes and nobody is told, until what was held arrives late', async () => {
    const { socket, got } = dial();
    socket.write('a');
    await vi.waitFor(() => expect(got).toEqual(['echo a']));
    proxy.freeze();
    socket.write('b');
    socket.destroy();
    await settle();
    expect(heard).toEqual(['a']);
    proxy.thaw();
    const next = dial();
    next.socket.write('c');
    await vi.waitFor(() => expect(heard).toEqual(['a', 'c']));
    proxy.release();
    await vi.waitFor(() => expect(heard).toEqual(['a', 'c', 'b', 'closed']));
    expect(next.got).toEqual(['echo c']);
  });

  it('half-open in one direction leaves the other', async () => {
    const { socket, got } = dial();
    socket.write('a');
    await vi.waitFor(() => expect(got).toEqual(['echo a']));
    proxy.freeze('DOWN');
    socket.write('b');
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b']));
    await settle();
    expect(got).toEqual(['echo a']);
  });

  it('delays one direction and keeps its order', async () => {
    proxy.delay(150, 'UP');
    const { socket, got } = dial();
    const startedAtMs = performance.now();
    socket.write('a');
    await sleep(40);
    socket.write('b');
    await vi.waitFor(() => expect(heard.join('')).toBe('ab'));
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(185);
    await vi.waitFor(() => expect(got.join('')).toContain('echo'));
  });

  it('lets a newer connection overtake an older one', async () => {
    proxy.holdNew();
    const older = dial();
    older.socket.write('older');
    await vi.waitFor(() => expect(proxy.accepted).toBe(1));
    proxy.letThrough();
    dial().socket.write('newer');
    await vi.waitFor(() => expect(heard).toEqual(['newer']));
    proxy.letThrough(...proxy.connections.slice(0, 1));
    await vi.waitFor(() => expect(heard).toEqual(['newer', 'older']));
  });

  it('refuses new connections only', async () => {
    const first = dial();
    first.socket.write('a');
    await vi.waitFor(() => expect(first.got).toEqual(['echo a']));
    proxy.refuse();
    const second = dial();
    await vi.waitFor(() => expect(second.got).toEqual(['closed']));
    first.socket.write('b');
    await vi.waitFor(() => expect(first.got).toEqual(['echo a', 'echo b']));
    proxy.admit();
    dial().socket.write('c');
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'c']));
  });

  it('passes much, in its order', async () => {
    const { socket } = dial();
    const text = Array.from({ length: 200_000 }, (_, at) => String(at)).join(' ');
    socket.resume();
    proxy.freeze('UP');
    socket.write(text);
    await settle();
    proxy.release();
    await vi.waitFor(() => expect(heard.join('').length).toBe(text.length));
    expect(heard.join('') === text).toBe(true);
  });
});
