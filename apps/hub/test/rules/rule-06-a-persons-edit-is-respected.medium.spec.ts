import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ApiClient } from '../api-client.ts';
import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import type { Wanted } from '../link-fixture.ts';
import { settle } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

const SPEC = { engine: { type: 'Redis', version: '8.0' }, mode: 'Replication', size: 2 };

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

const globalId = ({ hubUid }: Wanted): string => encodeGlobalId('RedisCluster', hubUid);
const contested = async ({ hubUid }: Wanted): Promise<unknown> => {
  const rows = await world.query<{ contested: unknown }>('SELECT contested FROM delivery WHERE hub_uid = $1', [hubUid]);
  return rows[0]?.contested;
};
const foreign = async (wanted: Wanted): Promise<unknown> =>
  (await world.status<{ foreign_fields: unknown }>(wanted))?.foreign_fields;
const ask = async (mutation: string, wanted: Wanted): Promise<void> => {
  const payload = await api.mutate(
    mutation,
    { id: globalId(wanted), expectedGeneration: wanted.hubGeneration },
    'redisCluster { id }',
  );
  expect(payload['userErrors']).toEqual([]);
};
const shownSync = async (wanted: Wanted): Promise<unknown> => {
  const answer = await api.query('query Q($id: ID!) { node(id: $id) { ... on RedisCluster { delivery { sync } } } }', {
    id: globalId(wanted),
  });
  return answer.data['node']?.['delivery']?.['sync'];
};

describe.concurrent("rule 6, a person's edit is respected", () => {
  it('server-side apply, never forced: the rest is applied without the contested fields', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    await member.edit('cache', { size: 5 });
    const next = await world.revise(member, wanted, { ...SPEC, mode: 'Sentinel', size: 3 });
    await world.untilDelivery(next, 'CONFLICT');
    expect((await member.find('cache'))?.spec).toMatchObject({ size: 5, mode: 'Sentinel' });
    expect(await contested(wanted)).toEqual([{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' }]);
    const applies = member.kube.requests.filter(({ method, path }) => method === 'PATCH' && path.endsWith('/cache'));
    expect(applies.filter(({ query }) => query.get('force') === 'true')).toEqual([]);
    await world.untilInSync(member);
  });

  it('drift shows although nothing was pushed: field, manager and live value come with the status', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    const { hub_generation: before } =
      (
        await world.query<{ hub_generation: number }>('SELECT hub_generation FROM resource WHERE hub_uid = $1', [
          wanted.hubUid,
        ])
      )[0] ?? {};
    await world.until('IN_SYNC', () => shownSync(wanted));
    await member.edit('cache', { size: 4 });
    await world.until([{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '4' }], () => foreign(wanted));
    await world.until('DRIFTED', () => shownSync(wanted));
    expect(before).toBe(1);
    expect((await member.find('cache'))?.spec).toMatchObject({ size: 4 });
  });

  it('driftPolicy Report is the default; Revert takes the field back with the next push', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    await member.edit('cache', { size: 4 });
    await world.until('DRIFTED', () => shownSync(wanted));
    await world.query(`UPDATE resource SET drift_policy = 'Revert' WHERE hub_uid = $1`, [wanted.hubUid]);
    const next = await world.revise(member, wanted, { ...SPEC, mode: 'Sentinel' });
    await world.untilDelivery(next, 'APPLIED');
    expect((await member.find('cache'))?.spec).toMatchObject({ size: 2, mode: 'Sentinel' });
    await world.until([], () => foreign(wanted));
  });

  it('accept / revert: a person in the hub has the live value taken up, or the wanted one put back', async () => {
    const member = await world.addMember();
    const accepted = await world.deliver(member, 'accepted', SPEC);
    const reverted = await world.deliver(member, 'reverted', SPEC);
    for (const name of ['accepted', 'reverted']) await member.edit(name, { size: 4 });
    for (const wanted of [accepted, reverted]) await world.until('DRIFTED', () => shownSync(wanted));
    await ask('acceptDrift', accepted);
    await ask('revertDrift', reverted);
    for (const wanted of [accepted, reverted]) await world.until('IN_SYNC', () => shownSync(wanted));
    expect((await member.find('accepted'))?.spec).toMatchObject({ size: 4 });
    expect((await member.find('reverted'))?.spec).toMatchObject({ size: 2 });
    await world.untilInSync(member);
  });

  it('an object deleted by hand is DELETED_LOCALLY, never recreated by itself', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    await member.remove('cache');
    await world.untilDelivery(wanted, 'DELETED_LOCALLY DELETED_LOCALLY');
    // Neither a new session, nor a lost memory, nor a new generation makes it again.
    await member.kill();
    await member.loseMemory();
    member.run();
    await world.untilConnected(member);
    await world.revise(member, wanted, { ...SPEC, size: 3 });
    await settle();
    await world.untilDelivery(wanted, 'DELETED_LOCALLY DELETED_LOCALLY');
    expect(await member.names()).toEqual([]);
    await world.untilInSync(member);
  });

  it('create: true is carried until the first APPLIED, and after Recreate', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    const mayCreate = async (): Promise<unknown> =>
      (
        await world.query<{ create_allowed: boolean }>('SELECT create_allowed FROM resource WHERE hub_uid = $1', [
          wanted.hubUid,
        ])
      )[0]?.create_allowed;
    expect(await mayCreate()).toBe(false);
    await member.remove('cache');
    await world.untilDelivery(wanted, 'DELETED_LOCALLY DELETED_LOCALLY');
    await ask('recreateRedisCluster', wanted);
    await world.untilDelivery(wanted, 'APPLIED');
    expect(await member.names()).toEqual(['cache']);
    expect(await mayCreate()).toBe(false);
    await world.untilInSync(member);
  });

  it('a deletion by hand while the agent was away is DELETED_LOCALLY as well', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    await member.kill();
    await member.remove('cache');
    member.run();
    await world.untilDelivery(wanted, 'DELETED_LOCALLY DELETED_LOCALLY');
    await world.untilInSync(member);
  });

  it("driftPolicy and adopt are fields of the hub's object, not of the custom resource", async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', SPEC);
    const object = await member.find('cache');
    expect(object?.spec).toEqual(SPEC);
    expect(JSON.stringify(object)).not.toMatch(/driftPolicy|adopt/i);
    expect(await world.delivery(wanted)).toBe('APPLIED');
  });
});
