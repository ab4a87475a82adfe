import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { carrySubscription, MAX_SUBSCRIPTIONS, noteSubscription } from './live-subscriptions.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
  }
}

function connect(): { readonly socket: FakeSocket; readonly begin: () => AsyncIterableIterator<number> } {
  const socket = new FakeSocket();
  const context = { request: { raw: { socket: socket as unknown as Duplex } } };
  const begin = (): AsyncIterableIterator<number> =>
    carrySubscription(context, async function* (signal) {
      yield 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
  return { socket, begin };
}

describe('the subscriptions of one WebSocket', () => {
  it('are bounded, and one that ends makes room for another', async () => {
    const { begin } = connect();
    const first = begin();
    for (let count = 1; count < MAX_SUBSCRIPTIONS; count += 1) begin();
    expect(begin).toThrow(expect.objectContaining({ code: 'TOO_MANY_SUBSCRIPTIONS' }));
    await first.return?.();
    expect(begin).not.toThrow();
    expect(begin).toThrow();
    expect(connect().begin).not.toThrow();
  });

  it('end with it, also one that nobody knows any more', async () => {
    const { socket, begin } = connect();
    const values = begin();
    expect(await values.next()).toEqual({ done: false, value: 1 });
    const next = values.next();
    socket.emit('close');
    expect((await next).done).toBe(true);
  });

  it('cut it when too many were refused', () => {
    const { socket } = connect();
    for (let count = 0; count < 2 * MAX_SUBSCRIPTIONS; count += 1) noteSubscription(socket as unknown as Duplex);
    expect(socket.destroyed).toBe(false);
    noteSubscription(socket as unknown as Duplex);
    expect(socket.destroyed).toBe(true);
  });
});
