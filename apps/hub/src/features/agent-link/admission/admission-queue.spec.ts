import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Metrics } from '../../../platform/telemetry/metrics.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { MAX_WAIT_MS } from './admission.rules.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  resetAndDestroy(): void {
    this.destroyed = true;
  }
}

const metrics = new Metrics();
let said: { readonly code: string; readonly source: string }[] = [];
let admitted: FakeSocket[] = [];
let waitingHellos = 0;
let queue: AdmissionQueue;

beforeEach(() => {
  vi.useFakeTimers();
  metrics.registry.resetMetrics();
  admitted = [];
  waitingHellos = 0;
  said = [];
  queue = new AdmissionQueue({
    admit: (socket: unknown) => admitted.push(socket as FakeSocket),
    waitingHellos: () => waitingHellos,
    nowMs: () => performance.now(),
    metrics,
    log: pino({ base: null }, { write: (line) => said.push(JSON.parse(line) as never) }),
  });
});
afterEach(() => {
  queue.stop();
  vi.useRealTimers();
});

function offer(count: number, address = '10.0.0.1'): readonly FakeSocket[] {
  const sockets = Array.from({ length: count }, () => new FakeSocket(address));
  for (const socket of sockets) queue.offer(socket as unknown as Socket);
  return sockets;
}
const drops = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await metrics.admissionDrops.get()).values.map((one) => [one.labels['reason'], one.value]));

describe('the queue for admission', () => {
  it('lets a lone agent in at once', () => {
    offer(1);
    expect(admitted).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets a herd in by its rate, first come first served, and ends those who would wait too long at once', async () => {
    const herd = offer(2_000);
    const [now, ended] = [admitted.length, herd.filter((one) => one.destroyed)];
    expect(now).toBe(20);
    expect(ended).toHaveLength(2_000 - 20 - 700);
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
    expect(admitted).toHaveLength(720);
    expect(admitted).toEqual(herd.slice(0, 720));
    expect(await drops()).toEqual({ FULL: 1_280 });
    await vi.advanceTimersByTimeAsync(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('drops those who have given up meanwhile, so that the others do not wait behind them', async () => {
    waitingHellos = 1_000;
    offer(30);
    expect(admitted).toHaveLength(20);
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS + 100);
    expect(admitted).toHaveLength(20);
    waitingHellos = 0;
    await vi.advanceTimersByTimeAsync(200);
    expect(await drops()).toEqual({ STALE: 10 });
    offer(1);
    expect(admitted).toHaveLength(21);
  });

  it('sends everybody away when the replica stops', () => {
    const herd = offer(100);
    queue.stop();
    expect(herd.filter((one) => one.destroyed)).toHaveLength(80);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const gauge = async (name: 'admissionQueue' | 'admissionSources' | 'admissionLongest'): Promise<number | undefined> =>
  (await metrics[name].get()).values[0]?.value;
const from = (address: string): readonly FakeSocket[] => admitted.filter((one) => one.remoteAddress === address);

describe('the queue for admission, when one address floods it', () => {
  it('lets those of another address in within two turns each, and turns none of them away', async () => {
    offer(2_000, '10.6.6.6');
    for (let at = 0; at < 20; at += 1) {
      const [agent] = offer(1, '10.0.0.2');
      offer(200, '10.6.6.6');
      await vi.advanceTimersByTimeAsync(50);
      expect(agent?.destroyed).toBe(false);
      expect(from('10.0.0.2')).toHaveLength(at + 1);
    }
    expect(said).toMatchObject([{ code: 'ADMISSION_CROWDED', source: '10.6.6.6' }]);
    const { FULL = 0, SHARE = 0 } = await drops();
    expect(FULL + SHARE).toBeGreaterThan(2_000);
  });

  it('gives two crowds behind an address each half of the places and half of the rate', async () => {
    offer(2_000, '10.6.6.6');
    const nat = offer(2_000, '10.0.0.3');
    expect([await gauge('admissionQueue'), await gauge('admissionSources'), await gauge('admissionLongest')]).toEqual([
      700, 2, 350,
    ]);
    await vi.advanceTimersByTimeAsync(1_000);
    const [ofFlood, ofNat] = [from('10.6.6.6').length - 20, from('10.0.0.3').length];
    expect(ofNat).toBeGreaterThan(95);
    expect(Math.abs(ofFlood - ofNat)).toBeLessThanOrEqual(1);
    // Those of one address keep their order.
    expect(from('10.0.0.3')).toEqual(nat.slice(0, ofNat));
  });

  it('has the whole rate for the address that stays when the others have gone', async () => {
    offer(400, '10.0.0.3');
    offer(50, '10.6.6.6');
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
    expect(admitted).toHaveLength(450);
    offer(1_000, '10.0.0.3');
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
    expect(from('10.0.0.3').length).toBeGreaterThan(400 + 900);
    expect(said).toEqual([]);
  });

  it('is full for one more address when each place has an address of its own', async () => {
    offer(20);
    for (let at = 0; at < 700; at += 1) offer(1, `10.1.${at >> 8}.${at & 255}`);
    const [late] = offer(1, '10.0.0.4');
    expect(late?.destroyed).toBe(true);
    expect(await drops()).toEqual({ FULL: 1 });
  });
});
