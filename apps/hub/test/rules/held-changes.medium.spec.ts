/**
 * A hub that wants something destructive of many RedisClusters at once, through a real hub and its database: the agent holds it, the hub
 * shows why and what lets it through, and a person in the member cluster does.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RESOURCE } from '#kube';
import { revise, type Wanted } from '../link-fixture.ts';
import { NAMESPACE, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

const LET_THROUGH = 'redis.atoll.dev/let-through';
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const spec = (size: number): object => ({ engine: { type: 'Redis', version: '8.0' }, mode: 'Replication', size });

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

const sizes = (member: RuleMember): Promise<readonly unknown[]> =>
  Promise.all(NAMES.map(async (name) => (await member.find(name))?.spec.size));
const messageOf = async ({ hubUid }: Wanted): Promise<string> => {
  const [row] = await world.query<{ message: string }>('SELECT message FROM delivery WHERE hub_uid = $1', [hubUid]);
  return row?.message ?? '';
};
const letThrough = async (member: RuleMember, name: string, wanted: Wanted): Promise<void> => {
  const hash = new RegExp(`${LET_THROUGH}=(\\S+)`).exec(await messageOf(wanted))?.[1];
  const at = { namespace: NAMESPACE, name };
  const metadata = { annotations: { [LET_THROUGH]: hash } };
  await member.client.patchMerge(RESOURCE.redisCluster, at, { metadata }, { fieldManager: 'kubectl-annotate' });
};

describe('changes that would shrink every RedisCluster of an agent', () => {
  it('wait, over restarts of the agent, until a person in the member cluster lets them through one by one', async () => {
    const member = await world.addMember();
    const wanted: Wanted[] = [];
    for (const name of NAMES) wanted.push(await world.deliver(member, name, spec(3)));
    await member.stop();
    const shrunk = await Promise.all(wanted.map((each) => revise(world.hub, member.enrolled, each, spec(1))));
    member.run();
    for (const each of shrunk) await world.untilDelivery(each, 'WAITING CHANGE_BREAKER');
    expect(await sizes(member)).toEqual([3, 3, 3, 3, 3]);
    const told = await messageOf(shrunk[0]!);
    expect(told).toContain('size 3 → 1');
    expect(told).toContain(`kubectl annotate arc -n ${NAMESPACE} a ${LET_THROUGH}=`);

    await member.kill();
    member.run();
    await world.untilConnected(member);
    // What is ordinary goes on beside them.
    await world.deliver(member, 'new', spec(3));
    expect(await sizes(member)).toEqual([3, 3, 3, 3, 3]);
    await letThrough(member, 'b', shrunk[1]!);
    await world.untilDelivery(shrunk[1]!, 'APPLIED');
    expect(await sizes(member)).toEqual([3, 1, 3, 3, 3]);
    expect(await world.delivery(shrunk[0]!)).toBe('WAITING CHANGE_BREAKER');

    // Taken back at the hub: nothing waits any more.
    const back = await revise(world.hub, member.enrolled, shrunk[0]!, spec(3));
    await world.untilDelivery(back, 'APPLIED');
  });
});
