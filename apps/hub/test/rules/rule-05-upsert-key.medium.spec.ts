import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freezeSpec } from '#protocol';

import { PATIENT } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

describe.concurrent('rule 5, upsert key (hubUid, hubGeneration)', () => {
  it('lower: ignored, and held for a person when the hub turns out to be behind', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', { mode: 'Standalone', size: 1 });
    const newer = await world.revise(member, wanted, { mode: 'Standalone', size: 2 });
    await world.untilDelivery(newer, 'APPLIED');
    const writes = member.writes().length;
    // As after a restore of an older backup: the hub knows generation 1 only, under a revision that seems new.
    const { text, hash } = freezeSpec({ mode: 'Standalone', size: 1 });
    await world.query('UPDATE resource SET hub_generation = 0, spec = $2, spec_hash = $3 WHERE hub_uid = $1', [
      wanted.hubUid,
      text,
      hash,
    ]);
    await world.revise(member, { ...wanted, hubGeneration: 0 }, { mode: 'Standalone', size: 1 });
    await world.untilDelivery(wanted, 'WAITING GENERATION_AHEAD');
    expect((await member.find('cache'))?.spec).toMatchObject({ size: 2 });
    expect(member.writes()).toHaveLength(writes);
  });

  it('the same again, by an ack that was lost: nothing is written twice', async () => {
    const member = await world.addMember({ parts: PATIENT });
    await world.deliver(member, 'first');
    member.proxy.freeze('UP');
    const wanted = await world.want(member, 'cache');
    await world.until('cache', async () => (await member.find('cache'))?.metadata.name);
    await member.kill();
    member.proxy.thaw();
    member.run();
    await world.untilDelivery(wanted, 'APPLIED');
    await world.untilInSync(member);
    expect(member.writes()).toEqual(['PATCH first', 'PATCH cache']);
  });

  it('same generation with another hash: the agent keeps what it has, GENERATION_REUSED, the hub reissues +1', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', { mode: 'Standalone', size: 1 });
    const writes = member.writes().length;
    const { text, hash } = freezeSpec({ mode: 'Standalone', size: 3 });
    // A split hub: the same number was given to another spec.
    await world.query('UPDATE resource SET hub_generation = 0, spec = $2, spec_hash = $3 WHERE hub_uid = $1', [
      wanted.hubUid,
      text,
      hash,
    ]);
    await world.revise(member, { ...wanted, hubGeneration: 0 }, { mode: 'Standalone', size: 3 });
    await world.until(2, async () => {
      const rows = await world.query<{ n: number }>('SELECT hub_generation AS n FROM resource WHERE hub_uid = $1', [
        wanted.hubUid,
      ]);
      return rows[0]?.n;
    });
    await world.untilDelivery(wanted, 'APPLIED');
    await world.untilInSync(member);
    expect((await member.holds())[0]).toMatchObject({ hubGeneration: 2, specHash: hash });
    // One write for generation 2, and none for what came as generation 1.
    expect(member.writes().length - writes).toBe(1);
  });
});
