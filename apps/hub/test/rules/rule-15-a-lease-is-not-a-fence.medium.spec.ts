import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startLeaseElector, type LeaseElector } from '#kube';

import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

const DURATION_MS = 900;
/** Renewals of this process never arrive, as from a machine that is cut off or frozen. */
const stopRenewals = (member: RuleMember, identity: string): void =>
  member.kube.inject({
    when: ({ method, path, body }) => method !== 'GET' && path.includes('/leases') && body.includes(identity),
    act: { kind: 'status', code: 500, reason: 'InternalError' },
    times: Infinity,
  });

/** A real elector on the member's API server. */
function holdLease(member: RuleMember, identity: string, signal: AbortSignal): LeaseElector {
  return startLeaseElector({
    client: member.client,
    namespace: 'atoll-system',
    name: 'atoll-agent',
    identity,
    clock: { nowMs: () => Date.now() + member.skewMs, monotonicMs: () => performance.now() },
    signal,
    leaseDurationMs: DURATION_MS,
    renewIntervalMs: 100,
  });
}

describe.concurrent('rule 15, a Lease is not a fence', () => {
  it('every write of the link asks that the lease is younger than two thirds of its duration', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'before');
    const abort = new AbortController();
    const elector = holdLease(member, 'pod-1', abort.signal);
    await world.until(true, () => Promise.resolve(elector.leaseIsYoungerThan()));
    await member.stop();
    member.parts = { fence: () => elector.leaseIsYoungerThan() };
    member.run();
    await world.deliver(member, 'renewed');
    // From now on no renewal gets through; the lease itself has a third of its life left when the fence closes.
    stopRenewals(member, 'pod-1');
    await world.until(false, () => Promise.resolve(elector.leaseIsYoungerThan()));
    expect(elector.ageMs).toBeGreaterThanOrEqual((DURATION_MS * 2) / 3);
    const writes = member.writes();
    const wanted = await world.want(member, 'too-late');
    await settle();
    expect(member.writes()).toEqual(writes);
    expect(await world.delivery(wanted)).toBe('PENDING');
    member.kube.clearFaults();
    await world.untilDelivery(wanted, 'APPLIED');
    abort.abort();
    await elector.done;
  });

  it('on the monotonic clock: a wall clock that jumps neither closes nor opens the fence', async () => {
    const member = await world.addMember();
    const abort = new AbortController();
    const elector = holdLease(member, 'pod-1', abort.signal);
    await world.until(true, () => Promise.resolve(elector.leaseIsYoungerThan()));
    member.skewMs = 24 * 3600_000;
    expect(elector.leaseIsYoungerThan()).toBe(true);
    stopRenewals(member, 'pod-1');
    member.skewMs = -24 * 3600_000;
    await world.until(false, () => Promise.resolve(elector.leaseIsYoungerThan()));
    member.kube.clearFaults();
    abort.abort();
    await elector.done;
  });

  it('right before each write: of two objects in one message the second is not written when the lease aged in between', async () => {
    const member = await world.addMember();
    await member.stop();
    const wanted = [await world.want(member, 'one'), await world.want(member, 'two')];
    await member.loseMemory();
    const seen = member.writes().length;
    // Both come in one snapshot; the lease is too old from the first write of an object on.
    let renewed = false;
    member.parts = { fence: () => renewed || member.writes().length === seen };
    member.run();
    await world.until(seen + 1, () => Promise.resolve(member.writes().length));
    await settle();
    expect(member.writes()).toHaveLength(seen + 1);
    expect(await member.names()).toHaveLength(1);
    renewed = true;
    for (const each of wanted) await world.untilDelivery(each, 'APPLIED');
    await world.untilInSync(member);
  });

  it('never two: the fence of a frozen holder is closed before the next one may write, and stays closed', async () => {
    const member = await world.addMember();
    const abort = new AbortController();
    const first = holdLease(member, 'pod-1', abort.signal);
    await world.until(true, () => Promise.resolve(first.leaseIsYoungerThan()));
    stopRenewals(member, 'pod-1');
    const next = new AbortController();
    const second = holdLease(member, 'pod-2', next.signal);
    while (!second.leaseIsYoungerThan()) {
      expect([first, second].filter((each) => each.leaseIsYoungerThan()).length).toBeLessThanOrEqual(1);
      await sleep(10);
    }
    // The second one renews; how fast, on a busy machine, is not the point.
    for (let looks = 0; looks < 10; looks += 1) {
      expect(first.leaseIsYoungerThan()).toBe(false);
      await sleep(20);
    }
    await world.until(true, () => Promise.resolve(second.leaseIsYoungerThan()));
    abort.abort();
    next.abort();
    await Promise.all([first.done, second.done]);
  });
});
