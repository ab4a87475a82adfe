import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectFakeKube, FakeKubeServer } from '#testing';
import { createKubeClient } from './create-kube-client.ts';
import type { KubeClient } from './kube-client.ts';
import { RESOURCE } from './kube-resource.ts';
import type { LeaseElector } from './lease.ts';
import { holdLease, type LeaseObject, mayTakeLease, sightLease } from './lease-record.ts';
import { startLeaseElector } from './start-lease-elector.ts';

const at = { namespace: 'n', name: 'atoll-agent' };
const RENEW_MS = 20;

interface Candidate {
  readonly elector: LeaseElector;
  readonly told: string[];
  readonly abort: AbortController;
  /** Puts this candidate's clocks forward. */
  skew(ms: number): void;
}

describe('the election', () => {
  let server: FakeKubeServer;
  let clients: KubeClient[];
  let candidates: Candidate[];
  beforeEach(async () => {
    server = await FakeKubeServer.start();
    clients = [];
    candidates = [];
  });
  afterEach(async () => {
    server.clearFaults();
    for (const { abort } of candidates) abort.abort();
    await Promise.all(candidates.map(({ elector }) => elector.done));
    for (const client of clients) await client.close();
    await server.stop();
  });

  const campaign = (identity: string): Candidate => {
    const client = createKubeClient(connectFakeKube(server), { userAgent: `${identity}/1` });
    clients.push(client);
    let skewMs = 0;
    const told: string[] = [];
    const abort = new AbortController();
    const elector = startLeaseElector({
      client,
      ...at,
      identity,
      signal: abort.signal,
      clock: { nowMs: () => Date.now() + skewMs, monotonicMs: () => performance.now() + skewMs },
      leaseDurationMs: 15_000,
      renewIntervalMs: RENEW_MS,
      requestTimeoutMs: 200,
      onAcquired: () => told.push('ACQUIRED'),
      onLost: (reason) => told.push(reason),
    });
    const candidate = { elector, told, abort, skew: (ms: number) => void (skewMs += ms) };
    candidates.push(candidate);
    return candidate;
  };
  const held = async (candidate: Candidate) => {
    await expect.poll(() => candidate.elector.leaseIsYoungerThan()).toBe(true);
    return candidate;
  };
  /** Puts its clock forward until it has taken the lease: a last renewal on its way starts the age anew. */
  const takesOver = ({ told, skew }: Candidate) =>
    expect
      .poll(() => {
        if (!told.includes('ACQUIRED')) skew(15_000);
        return told;
      })
      .toContain('ACQUIRED');
  const readLease = () => clients[0]?.get<LeaseObject>(RESOURCE.lease, at);
  const fromOf = (identity: string) => (request: { headers: Readonly<Record<string, unknown>> }) =>
    request.headers['user-agent'] === `${identity}/1`;

  it('makes the lease, renews it, and gives it back at the end', async () => {
    const first = await held(campaign('first'));
    const { spec } = (await readLease()) ?? {};
    expect(spec).toMatchObject({ holderIdentity: 'first', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(spec?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    await expect.poll(async () => (await readLease())?.spec?.renewTime).not.toBe(spec?.renewTime);
    expect((await readLease())?.spec?.acquireTime).toBe(spec?.acquireTime);
    first.abort.abort();
    await first.elector.done;
    expect(first.told).toEqual(['ACQUIRED', 'RELEASED']);
    expect(first.elector.leaseIsYoungerThan()).toBe(false);
    expect((await readLease())?.spec?.holderIdentity).toBe('');
  });

  it('closes the fence at two thirds of the duration, before anybody else may take over', async () => {
    const first = await held(campaign('first'));
    server.inject({ when: fromOf('first'), act: { kind: 'status', code: 500 }, times: Infinity });
    await new Promise((resolve) => setTimeout(resolve, 50));
    first.skew(9_000);
    expect(first.elector.leaseIsYoungerThan()).toBe(true);
    first.skew(1_001);
    expect(first.elector.leaseIsYoungerThan()).toBe(false);
    expect(first.elector.isHolder).toBe(true);
    first.skew(5_000);
    await expect.poll(() => first.told).toEqual(['ACQUIRED', 'EXPIRED']);
    expect(first.elector.isHolder).toBe(false);
  });

  it('leaves a lease alone while its record changes, however old its times look', async () => {
    await held(campaign('first'));
    const second = campaign('second');
    await expect.poll(() => second.elector.observedHolder).toBe('first');
    // Wall clocks that disagree by a year prove nothing.
    second.skew(14_000);
    await new Promise((resolve) => setTimeout(resolve, 10 * RENEW_MS));
    expect(second.told).toEqual([]);
  });

  it('takes over when the record has not changed for its whole duration; the old holder sees it', async () => {
    const first = await held(campaign('first'));
    const second = campaign('second');
    await expect.poll(() => second.elector.observedHolder).toBe('first');
    server.inject({ when: fromOf('first'), act: { kind: 'hang' }, times: Infinity });
    await takesOver(second);
    expect((await clients[1]?.get<LeaseObject>(RESOURCE.lease, at))?.spec?.leaseTransitions).toBe(1);
    server.clearFaults();
    await expect.poll(() => first.told).toEqual(['ACQUIRED', 'TAKEN']);
    expect(first.elector.leaseIsYoungerThan()).toBe(false);
  });

  it('goes on after an outage in which nobody took over', async () => {
    const first = await held(campaign('first'));
    await server.stop();
    first.skew(16_000);
    await expect.poll(() => first.told).toEqual(['ACQUIRED', 'EXPIRED']);
    await server.listen();
    await expect.poll(() => first.told).toEqual(['ACQUIRED', 'EXPIRED', 'ACQUIRED']);
  });

  it('tells after an outage that another one took over meanwhile', async () => {
    const first = await held(campaign('first'));
    const second = campaign('second');
    await expect.poll(() => second.elector.observedHolder).toBe('first');
    server.inject({ when: fromOf('first'), act: { kind: 'status', code: 500 }, times: Infinity });
    first.skew(16_000);
    await expect.poll(() => first.told).toEqual(['ACQUIRED', 'EXPIRED']);
    await takesOver(second);
    server.clearFaults();
    await expect.poll(() => first.told).toEqual(['ACQUIRED', 'EXPIRED', 'TAKEN']);
  });

  it('makes a lease anew that somebody deleted, and lets only one of two win a race', async () => {
    const first = await held(campaign('first'));
    await clients[0]?.delete(RESOURCE.lease, at);
    await expect.poll(async () => (await clients[0]?.find(RESOURCE.lease, at)) !== undefined).toBe(true);
    expect(first.told).toEqual(['ACQUIRED']);
    first.abort.abort();
    await first.elector.done;
    await clients[0]?.delete(RESOURCE.lease, at);
    const racers = ['a', 'b', 'c'].map(campaign);
    await expect.poll(() => racers.filter(({ elector }) => elector.isHolder).length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5 * RENEW_MS));
    expect(racers.filter(({ told }) => told.includes('ACQUIRED'))).toHaveLength(1);
  });

  it('gives the lease back although its last renewal was cut off after the server had carried it out', async () => {
    const first = await held(campaign('first'));
    server.inject({ when: ({ method }) => method === 'PUT', act: { kind: 'drop-after' } });
    const renewals = () => server.requests.filter(({ method }) => method === 'PUT').length;
    const before = renewals();
    await expect.poll(renewals, { interval: 1 }).toBeGreaterThan(before);
    first.abort.abort();
    await first.elector.done;
    expect((await readLease())?.spec?.holderIdentity).toBe('');
  });

  it('ends even when the lease cannot be given back', async () => {
    const first = await held(campaign('first'));
    server.inject({ when: () => true, act: { kind: 'hang' }, times: Infinity });
    first.abort.abort();
    await first.elector.done;
    expect(first.told).toEqual(['ACQUIRED', 'RELEASED']);
  });
});

describe('the record of a lease', () => {
  it('starts its age anew whenever it changes, on our clock alone', () => {
    const spec = holdLease(undefined, 'a', 15_000, 0);
    const first = sightLease(spec, undefined, 100);
    expect(sightLease(spec, first, 5_000)).toBe(first);
    expect(mayTakeLease(first, 'b', 15_099)).toBe(false);
    expect(mayTakeLease(first, 'b', 15_100)).toBe(true);
    const renewed = sightLease(holdLease(spec, 'a', 15_000, 1), first, 9_000);
    expect(mayTakeLease(renewed, 'b', 15_100)).toBe(false);
    expect(mayTakeLease(renewed, 'a', 9_001)).toBe(true);
  });

  it('counts a transition when the holder changes, and no other', () => {
    const first = holdLease(undefined, 'a', 15_000, 0);
    expect(holdLease(first, 'a', 15_000, 1)).toMatchObject({ leaseTransitions: 0, acquireTime: first.acquireTime });
    expect(holdLease(first, 'b', 15_000, 1)).toMatchObject({ leaseTransitions: 1, holderIdentity: 'b' });
  });
});
