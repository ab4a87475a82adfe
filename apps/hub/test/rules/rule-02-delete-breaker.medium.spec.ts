import { agentLimits } from '#testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { ApiClient } from '../api-client.ts';
import type { Wanted } from '../link-fixture.ts';
import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

/** The bug of the scenario: this hub holds back next to nothing. */
const NO_LIMITS = { perAgent: 1_000, perActor: 1_000, fleet: 1_000 };

let world: RuleWorld;
let careless: RuleWorld;
let api: ApiClient;
beforeAll(async () => {
  world = await RuleWorld.start();
  careless = await RuleWorld.start({ deleteLimits: NO_LIMITS });
  api = await ApiClient.admin(world.hub);
});
afterAll(async () => {
  await api.close();
  await careless.close();
  await world.close();
});

const globalId = ({ hubUid }: Wanted): string => encodeGlobalId('RedisCluster', hubUid);

async function deliverMany(at: RuleWorld, member: RuleMember, names: readonly string[]): Promise<Wanted[]> {
  const wanted = [];
  for (const name of names) wanted.push(await at.want(member, name));
  for (const each of wanted) await at.untilDelivery(each, 'APPLIED');
  return wanted;
}

/** Deletes as a person asks for them. */
async function ask(wanted: readonly Wanted[]): Promise<void> {
  for (const each of wanted) {
    const input = { id: globalId(each), expectedGeneration: each.hubGeneration };
    expect((await api.mutate('deleteRedisCluster', input, 'redisCluster { id }'))['userErrors']).toEqual([]);
  }
}

const NAMES = ['a', 'b', 'c', 'd', 'e'];

describe('rule 2, delete breaker', () => {
  it('more than 3 for one agent within 5 minutes wait, over new sessions and restarts, until they are approved', async () => {
    const member = await world.addMember();
    const wanted = await deliverMany(world, member, NAMES);
    await ask(wanted);
    await world.until(['d', 'e'], () => member.names());
    const held = wanted.slice(3);
    for (const each of held) expect(await world.delivery(each)).toBe('WAITING DELETE_BREAKER');
    await member.kill();
    await member.loseMemory();
    await world.killHub();
    await world.startHub();
    await api.close();
    api = await ApiClient.admin(world.hub);
    member.run();
    await world.untilConnected(member);
    await settle();
    expect(await member.names()).toEqual(['d', 'e']);
    const approval = await api.mutate(
      'approveDeletes',
      { redisClusterIds: held.map(globalId) },
      'approvalId expiresAt',
    );
    expect(approval['userErrors']).toEqual([]);
    for (const each of held) await world.untilDelivery(each, 'GONE');
    expect(await member.names()).toEqual([]);
    await world.untilInSync(member);
  });

  it('what waits still says so after the inventories were compared', async () => {
    const member = await world.addMember();
    const wanted: Wanted[] = [];
    for (const name of ['a', 'b', 'c', 'd']) wanted.push(await world.deliver(member, name));
    for (const each of wanted) await world.unwant(member, each);
    const states = async (): Promise<string[]> =>
      (await Promise.all(wanted.map((each) => world.delivery(each)))).sort();
    const expected = ['GONE', 'GONE', 'GONE', 'WAITING DELETE_BREAKER'];
    await world.until(expected, states);
    await world.query('UPDATE agent_spec_head SET inventory_needed = true WHERE agent_id = $1', [member.agentId]);
    await member.kill();
    member.run();
    await world.untilConnected(member);
    await world.until([{ needed: false }], () =>
      world.query('SELECT inventory_needed AS needed FROM agent_spec_head WHERE agent_id = $1', [member.agentId]),
    );
    expect(await states()).toEqual(expected);
    const told = await world.query('SELECT message FROM delivery WHERE hub_uid = ANY($1)', [
      wanted.map((each) => each.hubUid),
    ]);
    expect(JSON.stringify(told)).toContain('approveDeletes');
  });

  it('again in the agent: it takes no more than 3 in 5 minutes of a hub that holds nothing back', async () => {
    const member = await careless.addMember();
    const wanted = await deliverMany(careless, member, NAMES);
    for (const each of wanted.slice(0, 3)) {
      await careless.unwant(member, each);
      await careless.untilDelivery(each, 'GONE');
    }
    for (const each of wanted.slice(3)) {
      await careless.unwant(member, each);
      await careless.untilDelivery(each, 'REJECTED DELETE_BREAKER');
    }
    const left = await member.names();
    expect(left).toEqual(['d', 'e']);
    // The count is in its memory, so that another process goes on from it.
    await member.kill();
    member.run();
    await careless.untilConnected(member);
    await settle();
    expect(await member.names()).toEqual(left);
  });

  it('in the agent the number is one of its own values', async () => {
    const member = await careless.addMember({ run: false });
    const limits = agentLimits({ maxDeletes: 1 });
    member.changes = { limits };
    await careless.enrolByItself(member);
    const first = await careless.deliver(member, 'first');
    const second = await careless.deliver(member, 'second');
    await careless.unwant(member, first);
    await careless.untilDelivery(first, 'GONE');
    await careless.unwant(member, second);
    await careless.untilDelivery(second, 'REJECTED DELETE_BREAKER');
    expect(await member.names()).toEqual(['second']);
    member.changes = { limits: { ...limits, acceptDeletes: false } };
    const other = await careless.deliver(member, 'other');
    await member.stop();
    member.run();
    await careless.unwant(member, other, 'DELETE');
    await careless.untilDelivery(other, 'REJECTED NOT_PERMITTED_HERE');
    // Letting go destroys nothing and needs nobody.
    const free = await careless.deliver(member, 'free');
    await careless.unwant(member, free, 'ORPHAN');
    await careless.untilDelivery(free, 'GONE');
    expect(await member.names()).toContain('free');
  });

  it('the approval lists the hubUids and an expiry, and is carried by the tombstones of these alone', async () => {
    const member = await world.addMember();
    const wanted = await deliverMany(world, member, NAMES);
    await ask(wanted);
    await world.until(['d', 'e'], () => member.names());
    const [approved, other] = wanted.slice(3);
    if (approved === undefined || other === undefined) throw new Error('five were wanted');
    const input = { redisClusterIds: [globalId(approved)], expiresInSeconds: 60 };
    const { expiresAt } = await api.mutate('approveDeletes', input, 'approvalId expiresAt');
    const inMs = Date.parse(String(expiresAt)) - Date.now();
    expect(inMs).toBeGreaterThan(50_000);
    expect(inMs).toBeLessThanOrEqual(60_000);
    await world.untilDelivery(approved, 'GONE');
    await settle();
    expect(await member.names()).toEqual(['e']);
    expect(await world.delivery(other)).toBe('WAITING DELETE_BREAKER');
  });
});
