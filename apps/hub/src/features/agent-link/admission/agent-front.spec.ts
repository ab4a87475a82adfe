/** A hostile reader of the agents' listener, on real sockets: what it holds open or has kept here, ends. */
import { AGENT_PATH, SUBPROTOCOL } from '#protocol';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';

import { Metrics } from '../../../platform/telemetry/metrics.ts';
import { AgentFront, type Arrival } from './agent-front.ts';
import { AgentPeer } from './agent-peer.ts';

let front: AgentFront;
let port: number;
let arrived: { readonly webSocket: WebSocket; readonly arrival: Arrival }[] = [];

beforeEach(async () => {
  arrived = [];
  front = new AgentFront({
    metrics: new Metrics(),
    log: pino({ level: 'silent' }),
    waitingHellos: () => 0,
    nowMs: () => performance.now(),
    isDraining: () => false,
    serve: (webSocket, arrival) => {
      webSocket.on('error', () => undefined);
      new AgentPeer(webSocket);
      arrived.push({ webSocket, arrival });
    },
  });
  port = await front.listen(0, '127.0.0.1');
});
afterEach(() => front.close());

const UPGRADE =
  `Host: hub\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
  `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${SUBPROTOCOL}\r\n\r\n`;

/** A peer that keeps its half of the connection open, whatever comes. */
function dial(path: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\n${UPGRADE}`);
  return socket;
}

const nextOf = (socket: Socket, event: 'data' | 'end'): Promise<string> =>
  new Promise((done) => socket.once(event, (data?: Buffer) => done(String(data))));

/** Writes until the other side has gone. */
async function writeUntilClosed(socket: Socket, data: Buffer): Promise<void> {
  for (; !socket.destroyed; await new Promise((done) => setTimeout(done, 5))) socket.write(data);
}

/** Header of a masked frame from a client; mask of zeros. */
function frameOf(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(14);
  head.writeUInt8(0x80 | opcode, 0);
  head.writeUInt8(0x80 | 127, 1);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

describe('the listener of agents', () => {
  it.each([
    ['another path', '/other'],
    ['a target that is no URL', '//'],
    ['a path out of its folder', '/..%2f..%2fetc/passwd'],
    ['a path to be shortened', `${AGENT_PATH}/../x`],
    ['a very long one', `/${'a'.repeat(4_000)}`],
  ])('has nothing at %s, and lets go of a peer that stays', async (_, path) => {
    const socket = dial(path);
    expect(await nextOf(socket, 'data')).toMatch(/^HTTP\/1\.1 404 /);
    await nextOf(socket, 'end');
    // A reset says that nobody is there: a socket that is only half closed would take this in.
    await writeUntilClosed(socket, Buffer.from('still here'));
  });

  it('refuses a head of a request that has no end', async () => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('error', () => undefined).on('data', (data) => (answer += data.toString()));
    socket.write(`GET ${AGENT_PATH} HTTP/1.1\r\nX-Long: ${'a'.repeat(20_000)}`);
    await writeUntilClosed(socket, Buffer.from('a'));
    // What was still on its way makes the end a reset, which may take the answer along.
    expect(answer).toMatch(/^$|^HTTP\/1\.1 431 /);
  });

  it('cuts off an unknown peer that begins a large frame, and takes one of a known peer', async () => {
    const [hostile, agent] = [dial(AGENT_PATH), dial(AGENT_PATH)];
    await Promise.all([nextOf(hostile, 'data'), nextOf(agent, 'data')]);
    await expect.poll(() => arrived.length).toBe(2);
    hostile.write(frameOf(2, 500_000));
    await writeUntilClosed(hostile, Buffer.alloc(10_000));

    const open = arrived.find(({ webSocket }) => webSocket.readyState === webSocket.OPEN);
    open?.arrival.onKnown();
    const message = new Promise<number>((done) => open?.webSocket.once('message', (data: Buffer) => done(data.length)));
    agent.write(Buffer.concat([frameOf(2, 500_000), Buffer.alloc(500_000)]));
    expect(await message).toBe(500_000);
    agent.destroy();
  });

  it('cuts off a peer that waits for its approval and begins a large frame, but not by the few small ones it sends', async () => {
    const hostile = dial(AGENT_PATH);
    await nextOf(hostile, 'data');
    await expect.poll(() => arrived.length).toBe(1);
    arrived[0]?.arrival.onPending();
    let messages = 0;
    arrived[0]?.webSocket.on('message', () => (messages += 1));
    for (let at = 1; at <= 8; at += 1) {
      hostile.write(Buffer.concat([frameOf(2, 10_000), Buffer.alloc(10_000)]));
      await expect.poll(() => messages).toBe(at);
    }
    const closed = new Promise((done) => arrived[0]?.webSocket.once('close', done));
    hostile.write(Buffer.concat([frameOf(2, 8_000_000), Buffer.alloc(200_000)]));
    await closed;
    expect(messages).toBe(8);
  });

  it('cuts off a peer that sends a ninth message and has no session', async () => {
    const hostile = dial(AGENT_PATH);
    await nextOf(hostile, 'data');
    await expect.poll(() => arrived.length).toBe(1);
    const [peer] = arrived;
    let openAt = 0;
    peer?.webSocket.on('message', () => (openAt += Number(peer.webSocket.readyState === peer.webSocket.OPEN)));
    const closed = new Promise((done) => peer?.webSocket.once('close', done));
    hostile.write(Buffer.concat(Array.from({ length: 100 }, () => frameOf(1, 0))));
    await closed;
    expect(openAt).toBe(8);
  });

  it('answers pings, and cuts off a peer that reads no answer', async () => {
    const socket = dial(AGENT_PATH);
    await nextOf(socket, 'data');
    await expect.poll(() => arrived.length).toBe(1);
    arrived[0]?.arrival.onKnown();
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100)]);
    socket.write(ping);
    const pong = await new Promise<Buffer>((done) => socket.once('data', done));
    expect([pong[0], pong.length]).toEqual([0x8a, 102]);
    socket.pause();
    const many = Buffer.concat(Array.from({ length: 2_000 }, () => ping));
    await writeUntilClosed(socket, many);
  });

  it('lets go of a peer that sends its message in ever more fragments, also once it has a session', async () => {
    const socket = dial(AGENT_PATH);
    await nextOf(socket, 'data');
    arrived[0]?.arrival.onKnown();
    const failed = new Promise<Error>((done) => arrived[0]?.webSocket.once('error', done));
    // Not final, one byte each, a mask of zeros; the first says text, the others that they go on.
    const fragment = (opcode: number): Buffer => Buffer.from([opcode, 0x81, 0, 0, 0, 0, 0x61]);
    const few = Buffer.concat([fragment(1), ...Array.from({ length: 30 }, () => fragment(0))]);
    const got = new Promise<string>((done) => arrived[0]?.webSocket.once('message', (data) => done(String(data))));
    const last = fragment(0);
    last.writeUInt8(0x80, 0);
    socket.write(Buffer.concat([few, last]));
    expect(await got).toBe('a'.repeat(32));
    socket.write(Buffer.concat([few, ...Array.from({ length: 10 }, () => fragment(0))]));
    expect(await failed).toMatchObject({ message: 'Too many message fragments' });
    socket.destroy();
  });
});
