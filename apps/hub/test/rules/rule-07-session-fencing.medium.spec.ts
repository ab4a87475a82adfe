import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
let member: RuleMember;
beforeAll(async () => {
  world = await RuleWorld.start({ replicas: 2 });
  member = await world.addMember();
});
afterAll(() => world.close());

describe('rule 7, session fencing', () => {
  it('each accepted Hello raises session_no', async () => {
    const before = await world.session(member);
    member.proxy.cut();
    await world.until(before.sessionNo + 1, async () => (await world.session(member)).sessionNo);
    await world.untilConnected(member);
  });

  it('every later write carries it: what an older session sent and arrives late is not written', async () => {
    const wanted = await world.deliver(member, 'late');
    await member.setStatus('late', { phase: 'Creating' });
    await world.until('Creating', async () => (await world.status(wanted))?.phase);
    const old = await world.session(member);
    member.proxy.freeze('UP');
    await member.setStatus('late', { phase: 'Degraded' });
    await settle();
    // The agent hears nothing any more, gives up, and reaches the other replica; its own words are still on the way.
    member.proxy.freeze();
    const [, other] = world.hubs;
    if (other !== undefined) world.route(other, member);
    await world.until(false, () => Promise.resolve(member.isConnected));
    await member.setStatus('late', { phase: 'Ready' });
    member.proxy.thaw();
    await world.untilConnected(member);
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    member.proxy.release();
    await settle();
    const status = await world.status(wanted);
    expect(status).toMatchObject({ phase: 'Ready', session_no: old.sessionNo + 1 });
  });

  it('the disconnect carries it: the end of an older connection leaves the newer one connected', async () => {
    const before = await world.session(member);
    await member.kill({ silently: true });
    const stale = member.proxy.open;
    member.run();
    await world.untilConnected(member);
    for (const connection of stale) connection.cut();
    await settle();
    expect(await world.session(member)).toMatchObject({ sessionNo: before.sessionNo + 1, state: 'CONNECTED' });
  });

  it('newest wins: an agent that was killed without a farewell is welcomed at once when it comes again', async () => {
    await member.kill({ silently: true });
    const startedAtMs = performance.now();
    member.run();
    await world.untilConnected(member);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    await world.untilInSync(member);
  });

  it('newest wins: a Hello that an overtaken connection brings late ends in one session that is in sync', async () => {
    const before = await world.session(member);
    member.proxy.holdNew();
    const older = member.proxy.next();
    member.proxy.cut();
    const overtaken = await older;
    await world.until(false, () => Promise.resolve(member.isConnected));
    // The Hello of this one stays on its way: the Challenge passes, nothing comes back.
    overtaken.hold('UP');
    member.proxy.letThrough(overtaken);
    await world.untilConnected(member);
    const overtaking = await world.session(member);
    expect(overtaking.sessionNo).toBeGreaterThan(before.sessionNo);
    overtaken.release();
    await settle();
    const wanted = await world.deliver(member, 'overtaken');
    await world.untilInSync(member);
    expect(await world.session(member)).toMatchObject({ state: 'CONNECTED' });
    expect(await world.delivery(wanted)).toBe('APPLIED');
  });
});
