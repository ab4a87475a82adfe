import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Metrics } from '../../../platform/telemetry/metrics.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { MAX_WAIT_MS } from './admission.rules.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;

  resetAndDestroy(): void {
    this.destroyed = true;
  }
}

const metrics = new Metrics();
let admitted: FakeSocket[] = [];
let waitingHellos = 0;
let queue: AdmissionQueue;

beforeEach(() => {
  vi.useFakeTimers();
  metrics.registry.resetMetrics();
  admitted = [];
  waitingHellos = 0;
  queue = new AdmissionQueue({
    admit: (socket: unknown) => admitted.push(socket as FakeSocket),
    waitingHellos: () => waitingHellos,
    nowMs: () => performance.now(),
    metrics,
  });
});
afterEach(() => {
  queue.stop();
  vi.useRealTimers();
});

function offer(count: number): readonly FakeSocket[] {
  const sockets = Array.from({ length: count }, () => new FakeSocket());
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
