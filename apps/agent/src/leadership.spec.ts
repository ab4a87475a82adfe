import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { FakeKubeServer, connectFakeKube } from '#testing';
import { Leadership } from './leadership.ts';

const at = { namespace: 'atoll-system', name: 'atoll-agent' };
let server: FakeKubeServer;
let client: KubeClient;
let all: Leadership[];
/** Wall and monotonic time of the agent under test run ahead of the real ones by this. */
let aheadMs: number;

const lead = (identity: string) => {
  const steps: string[] = [];
  const leadership = new Leadership({
    client,
    clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs },
    log: () => undefined,
    ...at,
    identity,
    renewIntervalMs: 100,
    start: () => void steps.push('start'),
    stop: async () => void steps.push('stop'),
  });
  all.push(leadership);
  return { leadership, steps };
};
const until = (test: () => void): Promise<void> => vi.waitFor(test, { timeout: 4_000, interval: 10 });
const holder = async (): Promise<unknown> =>
  ((await client.get(RESOURCE.lease, at))['spec'] as { holderIdentity?: string }).holderIdentity;

beforeEach(async () => {
  aheadMs = 0;
  all = [];
  server = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(server), { userAgent: 'test/0' });
});
afterEach(async () => {
  await Promise.all(all.map((leadership) => leadership.stop()));
  await client.close();
  await server.stop();
});

describe('Leadership', () => {
  it('starts the work once it holds the Lease, and a second process does not', async () => {
    const first = lead('a');
    await until(() => expect(first.steps).toEqual(['start']));
    expect(first.leadership.mayWrite()).toBe(true);
    const second = lead('b');
    await until(() => expect(second.leadership.holder).toBe('a'));
    expect(second.leadership.leads).toBe(false);
    expect(second.leadership.mayWrite()).toBe(false);
    expect(second.steps).toEqual([]);
  });

  it('ends the work before it gives the Lease back', async () => {
    const { leadership, steps } = lead('a');
    await until(() => expect(steps).toEqual(['start']));
    await leadership.stop();
    expect(steps).toEqual(['start', 'stop']);
    expect(await holder()).toBe('');
  });

  it('keeps the work but writes nothing while the API server is away, and goes on when it is back', async () => {
    const { leadership, steps } = lead('a');
    await until(() => expect(steps).toEqual(['start']));
    await server.stop();
    aheadMs += 11_000;
    expect(leadership.mayWrite()).toBe(false);
    aheadMs += 5_000;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(leadership.leads).toBe(true);
    expect(steps).toEqual(['start']);
    await server.listen();
    await until(() => expect(leadership.mayWrite()).toBe(true));
    expect(steps).toEqual(['start']);
  });

  it('ends the work when another one took the Lease while it was expired', async () => {
    const { leadership, steps } = lead('a');
    await until(() => expect(steps).toEqual(['start']));
    await client.patchMerge(RESOURCE.lease, at, {
      spec: { holderIdentity: 'b', renewTime: new Date().toISOString().replace('Z', '000Z') },
    });
    await until(() => expect(steps).toEqual(['start', 'stop']));
    expect(leadership.leads).toBe(false);
  });
});
