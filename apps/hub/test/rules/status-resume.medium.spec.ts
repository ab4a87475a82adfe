/**
 * Status over restarts of hub and agent, by the real agent and the real hub: what has not changed is proven by one frame
 * and not written again; what has changed meanwhile is told.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

interface Row {
  readonly name: string;
  readonly version: string;
  readonly phase: string | null;
}

/** With the transaction that wrote each row last. */
const rows = (member: RuleMember): Promise<Row[]> =>
  world.query<Row>(
    `SELECT r.name, s.xmin::text AS version, s.phase FROM resource_status AS s JOIN resource AS r USING (hub_uid)
     WHERE r.agent_id = $1 ORDER BY r.name`,
    [member.agentId],
  );
const phases = async (member: RuleMember): Promise<string[]> =>
  (await rows(member)).map(({ name, phase }) => `${name} ${phase}`);

/** Sessions in which the agent was proven in sync: the time of the last one. */
async function confirmedAt(member: RuleMember): Promise<number> {
  const [row] = await world.query<{ at: Date | null }>(
    'SELECT confirmed_at AS at FROM agent_status_head WHERE agent_id = $1',
    [member.agentId],
  );
  return row?.at?.getTime() ?? 0;
}

async function restartHub(): Promise<void> {
  await world.stopHub();
  await world.startHub();
}

const untilConfirmedAgain = async (member: RuleMember, before: number): Promise<void> =>
  world.until(true, async () => (await confirmedAt(member)) > before);

describe('status after a restart', () => {
  it('of the hub is proven and not sent again; what changes then is told', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'a');
    await world.deliver(member, 'b');
    await member.create('by-hand');
    await member.setStatus('a', { phase: 'Ready' });
    await member.setStatus('b', { phase: 'Ready' });
    await world.until(true, async () => (await phases(member)).join() === 'a Ready,b Ready');
    const [stored, confirmed] = [await rows(member), await confirmedAt(member)];
    await restartHub();
    await untilConfirmedAgain(member, confirmed);
    expect(await rows(member)).toEqual(stored);
    await member.setStatus('a', { phase: 'Degraded' });
    await world.until(true, async () => (await phases(member)).join() === 'a Degraded,b Ready');
  });

  it('of the agent is proven as well, since nothing of it is kept in the process', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'a');
    await member.setStatus('a', { phase: 'Ready' });
    await world.until(true, async () => (await phases(member)).join() === 'a Ready');
    const [stored, confirmed] = [await rows(member), await confirmedAt(member)];
    await member.kill();
    member.run();
    await untilConfirmedAgain(member, confirmed);
    expect(await rows(member)).toEqual(stored);
  });

  it('in which something changed is told whole, and proven the next time', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'a');
    await world.deliver(member, 'b');
    await member.setStatus('a', { phase: 'Ready' });
    await world.until('Ready', async () => (await rows(member))[0]?.phase);
    await world.stopHub();
    await member.setStatus('a', { phase: 'Degraded' });
    await member.setStatus('b', { phase: 'Ready' });
    await world.startHub();
    await world.until(true, async () => (await phases(member)).join() === 'a Degraded,b Ready');
    const [stored, confirmed] = [await rows(member), await confirmedAt(member)];
    await restartHub();
    await untilConfirmedAgain(member, confirmed);
    expect(await rows(member)).toEqual(stored);
  });

  it('is in sync beside a copied YAML, which is an object of its own', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'a');
    await member.setStatus('a', { phase: 'Ready' });
    const { metadata, spec } = (await member.find('a')) ?? {};
    const at = { namespace: metadata?.namespace ?? '', name: 'copy', annotations: metadata?.annotations ?? {} };
    await member.client.create({
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: at,
      spec,
    });
    await member.setStatus('copy', { phase: 'Reconciling' });
    const local = (): Promise<{ name: string; claimed: string | null }[]> =>
      world.query('SELECT name, hub_uid_claimed AS claimed FROM local_object WHERE agent_id = $1', [member.agentId]);
    await world.until(true, async () => (await local()).length > 0 && (await phases(member)).join() === 'a Ready');
    expect(await local()).toEqual([{ name: 'copy', claimed: null }]);
    const confirmed = await confirmedAt(member);
    await restartHub();
    await untilConfirmedAgain(member, confirmed);
    // Neither digest saw it twice, and its end is nobody else's.
    await member.remove('copy');
    await world.until(0, async () => (await local()).length);
    await world.untilInSync(member);
    expect(await world.delivery(wanted)).toBe('APPLIED');
    expect(await phases(member)).toEqual(['a Ready']);
  });
});
