import type { Socket } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DatabaseSockets } from '../database/database-sockets.ts';
import { StopPatience } from './stop-patience.ts';

let said: { readonly code: string }[] = [];
let sockets: DatabaseSockets;
let open: Socket;
let probe: () => Promise<unknown>;
let patience: StopPatience;
let commits = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  [said, commits] = [[], 0];
  sockets = new DatabaseSockets();
  open = sockets.make();
  open.on('error', () => undefined);
  const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) });
  patience = new StopPatience({ log, sockets, probe: () => probe(), countCommits: () => commits });
});
afterEach(() => {
  patience.end();
  open.destroy();
  vi.useRealTimers();
});

describe('a replica that stops', () => {
  it('gives up a database that does not commit for some seconds', async () => {
    probe = () => new Promise(() => undefined);
    const ended = patience.begin();
    await vi.advanceTimersByTimeAsync(9_000);
    expect([sockets.isGivenUp, open.destroyed]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(3_000);
    await ended;
    expect([sockets.isGivenUp, open.destroyed]).toEqual([true, true]);
    expect(said.map(({ code }) => code)).toEqual(['DATABASE_GIVEN_UP']);
  });

  it.each([
    ['commits slowly', () => new Promise((done) => setTimeout(done, 2_000))],
    ['stalls for some seconds again and again', () => new Promise((done) => setTimeout(done, 8_000))],
    ['refuses', () => Promise.reject(new Error('refused'))],
  ])('waits for one that %s, for as long as the drain takes', async (_, answer) => {
    probe = answer;
    const ended = patience.begin();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(sockets.isGivenUp).toBe(false);
    patience.end();
    await vi.advanceTimersByTimeAsync(1_000);
    await ended;
    expect(said).toEqual([]);
  });

  it('waits for one that ends commits of status and not the small one, and only for as long as it does', async () => {
    probe = () => new Promise(() => undefined);
    const ended = patience.begin();
    for (let at = 0; at < 5; at += 1) {
      await vi.advanceTimersByTimeAsync(8_000);
      commits += 1;
    }
    expect(sockets.isGivenUp).toBe(false);
    await vi.advanceTimersByTimeAsync(12_000);
    await ended;
    expect(sockets.isGivenUp).toBe(true);
  });
});
