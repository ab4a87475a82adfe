import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ANNOTATION } from '#domain';
import { RESOURCE } from '#kube';

import type { Wanted } from '../link-fixture.ts';
import { NAMESPACE, PATIENT, settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

/** Tombstones that the agent worked off here, by what its memory says. */
const remembered = async (member: RuleMember, { hubUid }: Wanted): Promise<boolean> =>
  ((await member.memory())['tombstones'] ?? '').includes(hubUid);

/** A row as a backup has it. */
async function restore(table: 'resource' | 'delivery', row: object | undefined): Promise<void> {
  const [found] = await world.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'`,
    [table],
  );
  const { columns = '' } = found ?? {};
  await world.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_record(NULL::${table}, $1)`,
    [JSON.stringify(row)],
  );
}

describe.concurrent('rule 3, tombstones (DELETE or ORPHAN)', () => {
  it('stay until acked, and are sent again in every session', async () => {
    const member = await world.addMember({ parts: PATIENT });
    const doomed = await world.deliver(member, 'doomed');
    // The delete is carried out, and every ack of it is lost.
    member.proxy.freeze('UP');
    await world.unwant(member, doomed);
    await world.until(undefined, async () => (await member.find('doomed'))?.metadata.name);
    expect(await world.delivery(doomed)).toBe('PENDING');
    member.proxy.thaw();
    await member.kill();
    expect(await world.delivery(doomed)).toBe('PENDING');
    member.run();
    await world.untilDelivery(doomed, 'GONE');
    await world.untilInSync(member);
  });

  it('take the row of the hub away only after the ack, also when the finalizers of the object run for long', async () => {
    const member = await world.addMember();
    const doomed = await world.deliver(member, 'slow');
    await member.hold('slow', ['redis.atoll.dev/children']);
    await world.unwant(member, doomed);
    await world.untilDelivery(doomed, 'WAITING');
    await member.kill();
    member.run();
    await world.untilConnected(member);
    await settle();
    expect(await world.delivery(doomed)).not.toBe('GONE');
    await member.hold('slow', null);
    await world.untilDelivery(doomed, 'GONE');
    await world.untilInSync(member);
  });

  it('beat any upsert of the same hubUid: an object is deleted that was still to be created', async () => {
    const member = await world.addMember();
    member.proxy.freeze('DOWN');
    const unborn = await world.want(member, 'unborn');
    await settle();
    await world.unwant(member, unborn);
    member.proxy.release();
    await world.untilDelivery(unborn, 'GONE');
    await world.untilInSync(member);
    expect(await member.names()).toEqual([]);
  });

  it('are carried out for the last object of an agent that was away', async () => {
    const member = await world.addMember();
    const last = await world.deliver(member, 'last');
    await member.stop();
    await world.unwant(member, last);
    member.run();
    await world.untilDelivery(last, 'GONE');
    await world.untilInSync(member);
    expect(await member.names()).toEqual([]);
  });

  it('come with the snapshot of an agent that lost its memory', async () => {
    const member = await world.addMember();
    const doomed = await world.deliver(member, 'forgotten');
    await member.kill();
    await member.loseMemory();
    await world.unwant(member, doomed);
    member.run();
    await world.untilDelivery(doomed, 'GONE');
    expect(await member.names()).toEqual([]);
  });

  it('of ORPHAN let the object go with its data', async () => {
    const member = await world.addMember();
    const free = await world.deliver(member, 'free');
    const { uid } = (await member.find('free'))?.metadata ?? {};
    await world.unwant(member, free, 'ORPHAN');
    await world.untilDelivery(free, 'GONE');
    const { metadata } = (await member.find('free')) ?? {};
    expect(metadata?.uid).toBe(uid);
    expect(metadata?.annotations).toEqual({ [ANNOTATION.dataSetId]: free.hubUid });
  });

  it('are remembered: a restored member cluster shows such an object as UNCLAIMED', async () => {
    const member = await world.addMember();
    const doomed = await world.deliver(member, 'back');
    const object = await member.find('back');
    await world.unwant(member, doomed);
    await world.untilDelivery(doomed, 'GONE');
    await world.until(true, () => remembered(member, doomed));
    const { annotations = {} } = object?.metadata ?? {};
    await member.client.create({
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace: NAMESPACE, name: 'back', annotations },
      spec: { mode: 'Standalone' },
    });
    await world.until(1, async () => {
      const rows = await world.query(
        `SELECT 1 FROM local_object WHERE agent_id = $1 AND hub_uid_claimed = $2 AND (item ->> 'unclaimed')::boolean`,
        [member.agentId, doomed.hubUid],
      );
      return rows.length;
    });
    expect(await member.client.find(RESOURCE.redisCluster, { namespace: NAMESPACE, name: 'back' })).toBeDefined();
    await world.untilInSync(member, [doomed.hubUid]);
  });
});

describe('rule 3, what was deleted and came back', () => {
  it('is adopted when a person asks for it, with its data', async () => {
    const member = await world.addMember();
    const doomed = await world.deliver(member, 'back');
    const { annotations = {} } = (await member.find('back'))?.metadata ?? {};
    await world.unwant(member, doomed);
    await world.untilDelivery(doomed, 'GONE');
    const restored = await member.client.create({
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace: NAMESPACE, name: 'back', annotations },
      spec: { mode: 'Standalone' },
    });
    await settle();
    const wanted = await world.want(member, 'back');
    await world.untilDelivery(wanted, 'WAITING NAME_TAKEN');
    await world.query('UPDATE resource SET adopt = true WHERE hub_uid = $1', [wanted.hubUid]);
    const adopted = await world.revise(member, wanted, { mode: 'Standalone' });
    await world.untilDelivery(adopted, 'APPLIED');
    const { metadata } = (await member.find('back')) ?? {};
    expect(metadata?.uid).toBe(restored.metadata.uid);
    expect(metadata?.annotations).toMatchObject({
      [ANNOTATION.hubUid]: wanted.hubUid,
      [ANNOTATION.dataSetId]: doomed.hubUid,
    });
    await world.untilInSync(member);
  });
});

describe('rule 3, tombstones over a restart of the hub', () => {
  it('are remembered: a new hub epoch never re-creates such an object', async () => {
    const member = await world.addMember();
    const doomed = await world.deliver(member, 'never-again');
    // As in a backup: the row is back in the hub of another epoch, to be created.
    const backup = await world.query<{ readonly resource: object; readonly delivery: object }>(
      `WITH r AS (SELECT * FROM resource WHERE hub_uid = $1), d AS (SELECT * FROM delivery WHERE hub_uid = $1)
       SELECT row_to_json(r) AS resource, row_to_json(d) AS delivery FROM r, d`,
      [doomed.hubUid],
    );
    await world.unwant(member, doomed);
    await world.untilDelivery(doomed, 'GONE');
    await world.until(true, () => remembered(member, doomed));
    await world.stopHub();
    const hub = await world.startHub();
    await restore('resource', backup[0]?.resource);
    await restore('delivery', backup[0]?.delivery);
    await world.query(`UPDATE resource SET create_allowed = true WHERE hub_uid = $1`, [doomed.hubUid]);
    await world.query(`UPDATE hub_identity SET system_identifier = 'of the backup'`);
    await world.stopHub();
    const restored = await world.startHub();
    expect(restored.runtime.identity.hubEpoch).not.toBe(hub.runtime.identity.hubEpoch);
    await world.untilDelivery(doomed, 'REJECTED TOMBSTONED');
    expect(await member.names()).toEqual([]);
  });
});
