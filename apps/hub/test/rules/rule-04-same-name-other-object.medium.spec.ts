import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

describe.concurrent('rule 4, same name, other object', () => {
  it('an upsert waits while the name is held by another hubUid', async () => {
    const member = await world.addMember();
    const first = await world.deliver(member, 'cache');
    await member.hold('cache', ['redis.atoll.dev/children']);
    await world.unwant(member, first);
    const second = await world.want(member, 'cache');
    await world.untilDelivery(second, 'WAITING NAME_TAKEN');
    expect((await member.holds()).map(({ hubUid }) => hubUid)).toEqual([first.hubUid]);
    await member.hold('cache', null);
    await world.untilDelivery(second, 'APPLIED');
    await world.untilDelivery(first, 'GONE');
    await world.untilInSync(member);
    expect((await member.holds()).map(({ hubUid }) => hubUid)).toEqual([second.hubUid]);
  });

  it('an upsert waits while the name is held by a terminating object, hand-made ones too', async () => {
    const member = await world.addMember();
    await member.create('cache');
    await member.hold('cache', ['example.com/slow']);
    await member.remove('cache');
    const wanted = await world.want(member, 'cache');
    await world.untilDelivery(wanted, 'WAITING NAME_TAKEN');
    await member.hold('cache', null);
    await world.untilDelivery(wanted, 'APPLIED');
  });

  it('an unmanaged object of that name is ALREADY_EXISTS and is not touched', async () => {
    const member = await world.addMember();
    const made = await member.create('cache', { mode: 'Replication' });
    const wanted = await world.want(member, 'cache', { mode: 'Standalone' });
    await world.untilDelivery(wanted, 'REJECTED ALREADY_EXISTS');
    expect((await member.find('cache'))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    // It is ours as soon as the person takes theirs away.
    await member.remove('cache');
    await world.untilDelivery(wanted, 'APPLIED');
  });

  it('an unmanaged object of that name is taken over with adopt: true, with its uid', async () => {
    const member = await world.addMember();
    const made = await member.create('cache', { mode: 'Standalone' });
    const wanted = await world.want(member, 'cache', { mode: 'Standalone', size: 1 });
    await world.untilDelivery(wanted, 'REJECTED ALREADY_EXISTS');
    await world.query('UPDATE resource SET adopt = true WHERE hub_uid = $1', [wanted.hubUid]);
    const again = await world.revise(member, wanted, { mode: 'Standalone', size: 1 });
    await world.untilDelivery(again, 'APPLIED');
    expect((await member.find('cache'))?.metadata.uid).toBe(made.metadata.uid);
    await world.untilInSync(member);
  });
});
