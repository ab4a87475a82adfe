/**
 * What a person may write into one RedisCluster of a member cluster: none of it may cost the others their link. The right to
 * edit one object in one namespace would else be the power to silence a whole member cluster.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RESOURCE } from '#kube';

import { NAMESPACE, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

const annotate = (member: RuleMember, name: string, text: string, value: string): Promise<unknown> =>
  member.client.patchMerge(
    RESOURCE.redisCluster,
    { namespace: NAMESPACE, name },
    { metadata: { annotations: { [`redis.atoll.dev/${text}`]: value } } },
  );

/** Another object is applied and its status told, and the hub refused no frame. */
async function expectLink(member: RuleMember): Promise<void> {
  const wanted = await world.deliver(member, 'other');
  await member.setStatus('other', { phase: 'Ready' });
  await world.until('Ready', async () => (await world.status(wanted))?.phase);
  await sleep(1_500);
  await world.untilConnected(member);
  expect(member.logged.filter((line) => /INVALID_MESSAGE|1009|FRAME/.test(line))).toEqual([]);
}

describe.concurrent('one object cannot silence its member cluster', () => {
  it('by a hubUid of hundreds of characters', async () => {
    const member = await world.addMember();
    await member.create('strange');
    await annotate(member, 'strange', 'hub-uid', 'x'.repeat(600));
    await expectLink(member);
  });

  it.each([
    ['short', 'x'],
    ['long', 'x'.repeat(600)],
    ['empty', ''],
  ])('by a hash written by hand, %s', async (_, hash) => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    await annotate(member, 'cache', 'spec-hash', hash);
    await expectLink(member);
  });

  it('by a key of thousands of characters', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await member.edit('cache', { config: { ['k'.repeat(5_000)]: '1' } });
    await expectLink(member);
    const told = await world.status<{ conditions: { type: string }[] }>(wanted);
    expect(told?.conditions.map(({ type }) => type)).toContain('ToldInPart');
  });

  it('by a spec larger than a frame', async () => {
    const member = await world.addMember();
    await member.create('strange', { mode: 'Standalone', config: { a: 'y'.repeat(1_200_000) } });
    await expectLink(member);
    const rows = await world.query<{ name: string; types: string[] }>(
      `SELECT name, jsonb_path_query_array(item, '$.conditions[*].type') AS types FROM local_object WHERE agent_id = $1`,
      [member.agentId],
    );
    expect(rows).toEqual([{ name: 'strange', types: ['ToldInPart'] }]);
  });

  it('by a generation beyond counting: it is put right, and the object can be saved', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await annotate(member, 'cache', 'hub-generation', String(Number.MAX_SAFE_INTEGER));
    await expectLink(member);
    await world.untilInSync(member);
    const newer = await world.revise(member, wanted, { mode: 'Standalone', size: 1 });
    await world.untilDelivery(newer, 'APPLIED');
  });
});
