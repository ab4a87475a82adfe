/**
 * Rules 2 and 8 together: a delete that was pending in a database that was restored waits for a person, whether its agent was
 * there, away, or had carried it out already; what is asked for afterwards passes as ever.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ANNOTATION } from '#domain';

import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { ApiClient, type Json } from '../api-client.ts';
import type { Wanted } from '../link-fixture.ts';
import { NAMESPACE, PATIENT, settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

const WAITS = 'WAITING DELETE_BEFORE_RESTORE';

let world: RuleWorld;
let api: ApiClient;
beforeAll(async () => {
  world = await RuleWorld.start();
  api = await ApiClient.admin(world.hub);
});
afterAll(async () => {
  await api.close();
  await world.close();
});

const idOf = ({ hubUid }: Wanted): string => encodeGlobalId('RedisCluster', hubUid);
const ask = (mutation: string, wanted: Wanted): Promise<Json> =>
  api.mutate(
    mutation,
    { id: idOf(wanted), expectedGeneration: null },
    'redisCluster { delivery { state code message } }',
  );
const approve = (...wanted: readonly Wanted[]): Promise<Json> =>
  api.mutate('approveDeletes', { redisClusterIds: wanted.map(idOf) }, 'approvalId');

/** As it is found by a hub that starts: the same rows on another server. */
async function restore(): Promise<void> {
  await api.close();
  await world.query(`UPDATE hub_identity SET system_identifier = system_identifier || ' restored'`);
  await world.stopHub();
  await world.startHub();
  api = await ApiClient.admin(world.hub);
}

async function memberWith<T extends string>(
  names: readonly T[],
  parts: RuleMember['parts'] = {},
): Promise<{ readonly member: RuleMember; readonly of: Readonly<Record<T, Wanted>> }> {
  const member = await world.addMember({ parts });
  const entries: [string, Wanted][] = [];
  for (const name of names) entries.push([name, await world.deliver(member, name)]);
  return { member, of: Object.fromEntries(entries) as Record<T, Wanted> };
}

describe('a delete that is taken back', () => {
  it('while the API server of its agent does not answer is dropped there, and the object is let go', async () => {
    const { member, of } = await memberWith(['kept']);
    await member.kube.stop();
    await ask('deleteRedisCluster', of.kept);
    await settle();
    expect(await world.delivery(of.kept)).toBe('PENDING');
    await ask('forgetRedisCluster', of.kept);
    await world.until(true, async () => (await world.session(member)).sessionNo > 2 && member.isConnected);
    await member.kube.listen();
    await world.untilDelivery(of.kept, 'GONE');
    const { annotations = {} } = (await member.find('kept'))?.metadata ?? {};
    expect(annotations[ANNOTATION.hubUid]).toBeUndefined();
    expect(await member.names()).toEqual(['kept']);
  });
});

describe('a delete that was pending in a restored database', () => {
  it('waits although its agent was away, also after a second restore, until somebody says so again', async () => {
    const { member, of } = await memberWith(['approved', 'asked', 'kept', 'fresh']);
    await member.stop();
    for (const one of [of.approved, of.asked, of.kept]) await world.unwant(member, one);
    await approve(of.approved);
    await restore();
    // Already told to whoever asks, before any agent came.
    for (const one of [of.approved, of.asked, of.kept]) expect(await world.delivery(one)).toBe(WAITS);
    await restore();
    member.run();
    await world.untilConnected(member);
    await settle();
    expect(await member.names()).toEqual(['approved', 'asked', 'fresh', 'kept']);
    for (const one of [of.approved, of.asked, of.kept]) expect(await world.delivery(one)).toBe(WAITS);

    expect(JSON.stringify(await ask('deleteRedisCluster', of.fresh))).toContain('PENDING');
    await world.untilDelivery(of.fresh, 'GONE');
    await approve(of.approved);
    await world.untilDelivery(of.approved, 'GONE');
    await ask('deleteRedisCluster', of.asked);
    await world.untilDelivery(of.asked, 'GONE');
    await ask('forgetRedisCluster', of.kept);
    await world.untilDelivery(of.kept, 'GONE');
    expect(await member.names()).toEqual(['kept']);
    await world.untilInSync(member);
  });

  it('waits in the moment in which a person changes the epoch by hand, under a hub that runs', async () => {
    const { member, of } = await memberWith(['doomed', 'free']);
    member.proxy.freeze('DOWN');
    await world.unwant(member, of.doomed);
    await member.kill();
    await world.unwant(member, of.free, 'ORPHAN');
    await world.query('UPDATE hub_identity SET hub_epoch = gen_random_uuid()');
    expect(await world.delivery(of.doomed)).toBe(WAITS);
    member.proxy.release();
    member.run();
    // Letting go destroys nothing and waits for nobody.
    await world.untilDelivery(of.free, 'GONE');
    await settle();
    expect(await member.names()).toEqual(['doomed', 'free']);
    expect(await world.delivery(of.doomed)).toBe(WAITS);
  });

  /** The agent deletes it, and the hub hears nothing of that. */
  async function deleteUnheard(name: string): Promise<{ member: RuleMember; wanted: Wanted }> {
    const { member, of } = await memberWith([name], PATIENT);
    const wanted = of[name] as Wanted;
    member.proxy.freeze('UP');
    await world.unwant(member, wanted);
    await world.until([], () => member.names());
    await member.kill();
    member.proxy.thaw();
    return { member, wanted };
  }

  it('that its agent had carried out ends with an approval, and what was put back since is kept', async () => {
    const gone = await deleteUnheard('gone');
    const back = await deleteUnheard('back');
    await restore();
    await back.member.client.create({
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace: NAMESPACE, name: 'back', annotations: { [ANNOTATION.hubUid]: back.wanted.hubUid } },
      spec: { mode: 'Standalone' },
    });
    for (const { member } of [gone, back]) {
      member.run();
      await world.untilConnected(member);
    }
    await settle();
    for (const { wanted } of [gone, back]) expect(await world.delivery(wanted)).toBe(WAITS);
    await approve(gone.wanted);
    await world.untilDelivery(gone.wanted, 'GONE');
    // Asked for once more, and the agent knows that this object is a later one.
    await ask('deleteRedisCluster', back.wanted);
    await world.untilDelivery(back.wanted, 'REJECTED DELETED_OBJECT_IS_BACK');
    expect(await back.member.names()).toEqual(['back']);
    await approve(back.wanted);
    await world.untilDelivery(back.wanted, 'GONE');
    expect(await back.member.names()).toEqual([]);
  });

  it('waits when nobody noticed the restore but an agent that is ahead of the hub', async () => {
    const { member, of } = await memberWith(['doomed']);
    await member.stop();
    await world.unwant(member, of.doomed);
    await world.query('UPDATE agent_spec_head SET revision = 0, acked_revision = 0 WHERE agent_id = $1', [
      member.agentId,
    ]);
    await world.query('DELETE FROM desired_change WHERE agent_id = $1', [member.agentId]);
    member.run();
    await world.untilDelivery(of.doomed, WAITS);
    await world.until([{ needed: false }], () =>
      world.query('SELECT inventory_needed AS needed FROM agent_spec_head WHERE agent_id = $1', [member.agentId]),
    );
    await settle();
    expect(await member.names()).toEqual(['doomed']);
    expect(await world.delivery(of.doomed)).toBe(WAITS);
  });
});
