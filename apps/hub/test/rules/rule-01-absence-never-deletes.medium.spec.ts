import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());
/** The one thing that holds in all of these. */
afterEach(() => {
  for (const member of world.members) expect(member.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
});

/** What the hub shows of objects that it does not want. */
const unclaimed = async (member: RuleMember): Promise<string[]> => {
  const rows = await world.query<{ name: string }>(
    `SELECT name FROM local_object WHERE agent_id = $1 AND hub_uid_claimed IS NOT NULL ORDER BY name`,
    [member.agentId],
  );
  return rows.map((row) => row.name);
};

describe.concurrent('rule 1, absence never deletes', () => {
  it('what a verified snapshot lacks is UNCLAIMED, shown for adoption or deletion', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'kept');
    const lost = await world.deliver(member, 'lost');
    await member.stop();
    await member.loseMemory();
    await world.query('DELETE FROM resource WHERE hub_uid = $1', [lost.hubUid]);
    await world.query(`UPDATE agent_spec_head SET digest = $2 WHERE agent_id = $1`, [
      member.agentId,
      await member.digest([lost.hubUid]),
    ]);
    member.run();
    await world.until(['lost'], () => unclaimed(member));
    await world.untilInSync(member, [lost.hubUid]);
    expect(await member.names()).toEqual(['kept', 'lost']);
  });

  it('an empty answer of the hub deletes nothing', async () => {
    const member = await world.addMember();
    for (const name of ['a', 'b']) await world.deliver(member, name);
    await member.stop();
    await world.query('DELETE FROM resource WHERE agent_id = $1', [member.agentId]);
    member.run();
    await world.until(['a', 'b'], () => unclaimed(member));
    expect(await member.names()).toEqual(['a', 'b']);
  });

  it('a failed list in the member cluster deletes nothing there and nothing in the hub', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await member.kill();
    const isList = ({ method, path }: { method: string; path: string }): boolean =>
      method === 'GET' && path.endsWith('/redisclusters');
    member.kube.inject({ when: isList, act: { kind: 'status', code: 500, reason: 'InternalError' }, times: Infinity });
    member.run();
    await world.untilConnected(member);
    await settle();
    expect(await world.delivery(wanted)).toBe('APPLIED');
    member.kube.clearFaults();
    await world.untilInSync(member);
    expect(await member.names()).toEqual(['cache']);
  });

  it('a shrunken placement deletes nothing: what was taken from an agent stays there, UNCLAIMED', async () => {
    const member = await world.addMember();
    const other = await world.addMember({ run: false });
    const moved = await world.deliver(member, 'moved');
    await member.stop();
    await member.loseMemory();
    await world.query('UPDATE resource SET agent_id = $2, member_cluster_id = $3 WHERE hub_uid = $1', [
      moved.hubUid,
      other.agentId,
      other.enrolled.memberClusterId,
    ]);
    member.run();
    await world.until(['moved'], () => unclaimed(member));
    expect(await member.names()).toEqual(['moved']);
  });
});

describe('rule 1, absence never deletes, over restarts of the hub', () => {
  it('a restarted hub deletes nothing, however often and in the middle of changes', async () => {
    const member = await world.addMember();
    let wanted = await world.deliver(member, 'cache');
    for (let size = 1; size <= 3; size += 1) {
      wanted = await world.revise(member, wanted, { mode: 'Standalone', size });
      await world.killHub();
      await world.startHub();
    }
    await world.untilConnected(member);
    await world.untilDelivery(wanted, 'APPLIED');
    await world.untilInSync(member);
    expect((await member.find('cache'))?.spec).toMatchObject({ size: 3 });
  });
});
