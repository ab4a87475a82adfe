import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';

import { SubscriptionPeer } from './subscription-peer.ts';

class FakeSocket extends EventEmitter {
  readonly protocol = 'graphql-transport-ws';
  bufferedAmount = 0;
  isPaused = false;
  terminated = false;
  readonly sent: string[] = [];
  readonly pongs: unknown[] = [];
  pings = 0;
  closed: number | undefined;
  send(text: string, done: () => void): void {
    this.sent.push(text);
    done();
  }
  close(code: number): void {
    this.closed ??= code;
  }
  ping = (): void => void (this.pings += 1);
  pong = (data: unknown): void => void this.pongs.push(data);
  pause = (): void => void (this.isPaused = true);
  resume = (): void => void (this.isPaused = false);
  terminate = (): void => void (this.terminated = true);
}

function connect(mayStay = true) {
  const [socket, wire] = [new FakeSocket(), new PassThrough()];
  const failures: unknown[] = [];
  const hooks = { mayStay: () => Promise.resolve(mayStay), onFailure: (error: unknown) => failures.push(error) };
  const peer = new SubscriptionPeer(socket as unknown as WebSocket, wire, hooks);
  const handled: string[] = [];
  peer.onMessage((text) => Promise.resolve(void handled.push(text)));
  const say = (text: string): void => void socket.emit('message', Buffer.from(text), false);
  return { socket, wire, peer, handled, failures, say };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
});

describe('the WebSocket of a stranger', () => {
  it('is closed after 4 KiB, before any frame of them is looked at, and cut off if more comes', () => {
    const { socket, wire, say, handled } = connect();
    wire.emit('data', Buffer.alloc(4_000));
    expect(socket.closed).toBeUndefined();
    wire.emit('data', Buffer.alloc(200));
    say('{}');
    expect([socket.closed, handled, wire.destroyed]).toEqual([4403, [], false]);
    wire.emit('data', Buffer.alloc(1));
    expect(wire.destroyed).toBe(true);
  });

  it('is closed when it begins with a ping, which is not answered', () => {
    const { socket } = connect();
    socket.emit('ping', Buffer.from('x'));
    expect([socket.closed, socket.pongs]).toEqual([4403, []]);
  });
});

describe('the WebSocket of a known client', () => {
  it('is not counted any more, and its pings are answered', () => {
    const { socket, wire, peer } = connect();
    peer.welcome();
    wire.emit('data', Buffer.alloc(100_000));
    socket.emit('ping', Buffer.from('x'));
    expect([socket.closed, socket.pongs]).toEqual([undefined, [Buffer.from('x')]]);
  });

  it('takes text only', () => {
    const { socket, handled } = connect();
    socket.emit('message', Buffer.from('{}'), true);
    expect([socket.closed, handled]).toEqual([1003, []]);
  });

  it('is read one frame at a time: the next one waits for what the frame before began', async () => {
    const { socket, peer, say } = connect();
    const handled: string[] = [];
    let ready = (): void => undefined;
    peer.onMessage((text) => {
      handled.push(text);
      return peer.hold(new Promise<void>((done) => (ready = done)));
    });
    say('1');
    say('2');
    expect([handled, socket.isPaused]).toEqual([['1'], true]);
    ready();
    await vi.waitFor(() => expect(handled).toEqual(['1', '2']));
    ready();
    await vi.waitFor(() => expect(socket.isPaused).toBe(false));
  });

  it('forgets the frames that wait when it is closed meanwhile', async () => {
    const { peer, say, socket } = connect();
    const handled: string[] = [];
    peer.onMessage((text) => {
      handled.push(text);
      return peer.hold(Promise.resolve().then(() => peer.close(4403, 'Forbidden')));
    });
    for (const text of ['1', '2', '3']) say(text);
    await vi.waitFor(() => expect(socket.closed).toBe(4403));
    say('4');
    expect(handled).toEqual(['1']);
  });

  it('is closed when it reads nothing, by whatever is sent next', async () => {
    for (const next of ['send', 'ping'] as const) {
      const { peer, socket } = connect();
      peer.welcome();
      socket.bufferedAmount = 5 * 1024 * 1024;
      if (next === 'send') await peer.send('x');
      else socket.emit('ping', Buffer.from('x'));
      expect([socket.closed, socket.sent, socket.pongs]).toEqual([4413, [], []]);
    }
  });

  it('is asked every 20 s whether it lives, and whether its token still holds', async () => {
    const living = connect();
    living.peer.welcome();
    await vi.advanceTimersByTimeAsync(20_000);
    living.socket.emit('pong');
    await vi.advanceTimersByTimeAsync(20_000);
    expect([living.socket.pings, living.socket.terminated]).toEqual([2, false]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(living.socket.terminated).toBe(true);
    const revoked = connect(false);
    revoked.peer.welcome();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(revoked.socket.closed).toBe(4403);
  });

  it('leaves no timer when it has closed, also if it is welcomed afterwards', () => {
    const { peer, socket } = connect();
    peer.welcome();
    socket.emit('close');
    peer.welcome();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is closed when a frame fails, with nothing of the error', async () => {
    const { peer, say, socket, failures } = connect();
    peer.onMessage(() => Promise.reject(new Error('secret')));
    say('{}');
    await vi.waitFor(() => expect(socket.closed).toBe(4500));
    expect(failures).toHaveLength(1);
  });
});
