import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { EMPTY_DIGEST, freezeSpec } from '#protocol';

import { enrolAgent, openSession, want } from '../link-fixture.ts';
import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

const epoch = (): string => world.hub.runtime.identity.hubEpoch;
/** How the last session of an agent began. */
const lastMode = (member: RuleMember): Promise<string> =>
  Promise.resolve(/"mode":"(\w+)"/.exec(member.logged.findLast((line) => line.includes('welcomed')) ?? '')?.[1] ?? '');
const deletesOf = (member: RuleMember): string[] => member.writes().filter((write) => write.startsWith('DELETE'));

/** From the next connection on this server says another system_identifier, as one to which the address was moved does. */
async function becomeAnotherDatabase(): Promise<void> {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query('CREATE SCHEMA elsewhere');
  await client.query(
    `CREATE FUNCTION elsewhere.pg_control_system() RETURNS TABLE (system_identifier bigint) LANGUAGE sql AS 'SELECT 42::bigint'`,
  );
  const name = new URL(world.databaseUrl).pathname.slice(1);
  await client.query(`ALTER DATABASE ${name} SET search_path = public, elsewhere, pg_catalog`);
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await client.end();
}

describe('rule 8, hub epoch', () => {
  it.each(['system_identifier', 'timeline_id'])(
    'changes by itself when the %s of the database differs',
    async (column) => {
      const member = await world.addMember();
      const wanted = await world.deliver(member, 'cache');
      const before = epoch();
      await world.query(`UPDATE hub_identity SET ${column} = ${column === 'timeline_id' ? '77' : `'another'`}`);
      await world.stopHub();
      await world.startHub();
      expect(epoch()).not.toBe(before);
      await world.until(epoch(), () => Promise.resolve(member.link.state().hubEpoch));
      await world.until('INVENTORY', () => lastMode(member));
      await world.untilInSync(member);
      expect(await world.delivery(wanted)).toBe('APPLIED');
      expect(deletesOf(member)).toEqual([]);
    },
  );

  it('changes while the hub runs: each new connection to the database is looked at', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    const before = epoch();
    await becomeAnotherDatabase();
    await world.until(true, () => Promise.resolve(epoch() !== before));
    await world.until('INVENTORY', () => lastMode(member));
    await world.until(epoch(), () => Promise.resolve(member.link.state().hubEpoch));
    await world.untilInSync(member);
  });

  it('of a backup of yesterday: nothing is deleted, what is newer here is held, what is unknown is shown', async () => {
    const member = await world.addMember();
    const old = await world.deliver(member, 'old', { mode: 'Standalone', size: 1 });
    const { text, hash } = freezeSpec({ mode: 'Standalone', size: 1 });
    const newer = await world.revise(member, old, { mode: 'Standalone', size: 2 });
    await world.untilDelivery(newer, 'APPLIED');
    const young = await world.deliver(member, 'young');
    const deleted = await world.deliver(member, 'deleted');
    await world.stopHub();
    await world.startHub();
    await world.untilConnected(member);
    await member.stop();
    // Yesterday: generation 1 of `old`, no `young`, and `deleted` was deleted since then.
    await world.query('DELETE FROM resource WHERE hub_uid = $1', [young.hubUid]);
    await world.query('UPDATE resource SET hub_generation = 1, spec = $2, spec_hash = $3 WHERE hub_uid = $1', [
      old.hubUid,
      text,
      hash,
    ]);
    await world.query(
      'UPDATE delivery SET hub_generation = 1, applied_generation = 1, applied_hash = $2 WHERE hub_uid = $1',
      [old.hubUid, hash],
    );
    await world.query('UPDATE agent_spec_head SET revision = 1, acked_revision = 1 WHERE agent_id = $1', [
      member.agentId,
    ]);
    await world.query('DELETE FROM desired_change WHERE agent_id = $1 AND revision > 1', [member.agentId]);
    await world.query(`UPDATE hub_identity SET system_identifier = 'of yesterday'`);
    await member.remove('deleted');
    await world.stopHub();
    await world.startHub();
    member.run();
    await world.untilDelivery(old, 'WAITING GENERATION_AHEAD');
    await world.untilDelivery(deleted, 'DELETED_LOCALLY DELETED_LOCALLY');
    expect(await member.names()).toEqual(['old', 'young']);
    expect((await member.find('old'))?.spec).toMatchObject({ size: 2 });
    await world.until(1, async () => {
      const rows = await world.query('SELECT 1 FROM local_object WHERE agent_id = $1 AND hub_uid_claimed = $2', [
        member.agentId,
        young.hubUid,
      ]);
      return rows.length;
    });
    // A person saves: the hub goes on from the generation that is here.
    const saved = await world.revise(member, { ...old, hubGeneration: 2 }, { mode: 'Standalone', size: 3 });
    await world.untilDelivery(saved, 'APPLIED');
    expect((await member.holds()).find(({ hubUid }) => hubUid === old.hubUid)?.hubGeneration).toBe(3);
    await world.untilInSync(member, [young.hubUid]);
    expect(deletesOf(member)).toEqual(['DELETE deleted']);
  });

  it('an applied revision above the spec revision leads to INVENTORY', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    await member.stop();
    await world.query('UPDATE agent_spec_head SET revision = 0, acked_revision = 0 WHERE agent_id = $1', [
      member.agentId,
    ]);
    await world.query('DELETE FROM desired_change WHERE agent_id = $1', [member.agentId]);
    member.run();
    await world.until('INVENTORY', () => lastMode(member));
    await world.untilInSync(member);
    expect(deletesOf(member)).toEqual([]);
  });

  it('a digest in a DesiredAck that differs leads to INVENTORY, and only then', async () => {
    const { hub } = await world.behindProxy();
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'cache');
    const { revision } = await agent.next('Delta');
    agent.send('DesiredAck', { revision, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: EMPTY_DIGEST });
    expect(await agent.next('Reconnect')).toEqual({ afterMs: 0 });
    agent.close();
    const hello = { hubEpoch: epoch(), appliedRevision: revision, specDigest: EMPTY_DIGEST };
    const next = await openSession(hub, enrolled, hello);
    expect(next.welcome.mode).toBe('INVENTORY');
    // Until the inventory is here, nothing is sent.
    await settle();
    expect((['Delta', 'SnapshotBegin', 'SnapshotEnd'] as const).map((type) => next.agent.pending(type))).toEqual([
      0, 0, 0,
    ]);
    next.agent.close();
  });
});
