import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LINK_PARTS, type LinkParts } from '../../src/features/agent-link/connections/link-parts.ts';
import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { ApiClient } from '../api-client.ts';
import { enrolAgent, openSession, type Wanted } from '../link-fixture.ts';
import type { RuleMember } from './rule-member.ts';
import { holdClaim } from '../hold-claim.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start({ replicas: 2 });
});
afterAll(() => world.close());

const verdict = async (agentId: string): Promise<string | undefined> => {
  const rows = await world.query<{ verdict: string }>('SELECT verdict FROM agent_seen WHERE agent_id = $1', [agentId]);
  return rows[0]?.verdict;
};
/**
 * Time passes for the hub's clock: since then nothing was heard of these agents. A row that is as old already is left
 * alone: a look leaves out the rows that somebody writes, and to write them at each poll would hide them on a slow disk.
 */
const pass = async (agentIds: readonly string[], age: string): Promise<void> => {
  // What was heard before is written now, and not over this.
  for (const hub of world.hubs) await hub.app.get<LinkParts>(LINK_PARTS, { strict: false }).seen.flush();
  await world.query(
    `UPDATE agent_seen SET seen_at = now() - $2::interval
     WHERE agent_id = ANY($1::uuid[]) AND seen_at > now() - $2::interval`,
    [agentIds, age],
  );
};
/** A frame that the hub had read before the silence may count after the clock was turned: then it is turned once more. */
const passUntil = (agentId: string, age: string, expected: string): Promise<void> =>
  world.until(expected, async () => {
    await pass([agentId], age);
    // A look that came too late to be sure of anything has begun a new grace.
    await endGrace();
    return verdict(agentId);
  });
/** Also before the first look, which comes up to a second after the hub's start and would else begin with a grace of 90 s. */
const endGrace = async (): Promise<void> => {
  await world.query(
    `INSERT INTO liveness_pulse AS p (at, grace_until) VALUES (now(), now())
     ON CONFLICT (one) DO UPDATE SET grace_until = now() WHERE p.grace_until > now()`,
  );
};
/** The link is silent in both directions, and both sides still believe in it. */
const silence = (member: RuleMember): void => {
  member.proxy.freeze();
};
const shown = async ({ hubUid }: Wanted): Promise<unknown> => {
  const api = await ApiClient.admin(world.hub);
  const query = `query Q($id: ID!) { node(id: $id) { ... on RedisCluster { status { phase lastKnown ageSeconds } } } }`;
  const answer = await api.query(query, { id: encodeGlobalId('RedisCluster', hubUid) });
  await api.close();
  return answer.data['node']?.['status'];
};

describe("rule 11, liveness on the hub's clock only", () => {
  it('LATE at 45 s, DISCONNECTED at 90 s (UNKNOWN with age), fresh again with the first frame', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await member.setStatus('cache', { phase: 'Ready' });
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    expect(await shown(wanted)).toMatchObject({ phase: 'READY', lastKnown: false });
    silence(member);
    await endGrace();
    await passUntil(member.agentId, '46 seconds', 'LATE');
    expect(await world.session(member)).toMatchObject({ state: 'CONNECTED' });
    await passUntil(member.agentId, '91 seconds', 'UNKNOWN');
    expect(await world.session(member)).toMatchObject({ state: 'DISCONNECTED' });
    // The last value is kept and flagged.
    expect(await shown(wanted)).toMatchObject({ phase: 'READY', lastKnown: true });
    member.proxy.thaw();
    await world.until('FRESH', () => verdict(member.agentId));
    await world.until('CONNECTED', async () => (await world.session(member)).state);
  });

  it('any frame counts: an agent that only reports status is heard', async () => {
    const enrolled = await enrolAgent(world.hub);
    const { agent } = await openSession(world.hub, enrolled);
    await endGrace();
    await pass([enrolled.agentId], '20 seconds');
    agent.send('StatusBatch', { counter: 0, items: [] });
    await agent.next('StatusAck');
    // Written with the next flush, within 5 s.
    await world.until(true, async () => {
      const rows = await world.query<{ age: number }>(
        'SELECT extract(epoch FROM now() - seen_at)::float8 AS age FROM agent_seen WHERE agent_id = $1',
        [enrolled.agentId],
      );
      return (rows[0]?.age ?? 99) < 10;
    });
    expect(await verdict(enrolled.agentId)).toBe('FRESH');
    agent.close();
  });

  it.each([-400, 400])("an agent's clock that is off by %i days moves neither verdict nor age", async (days) => {
    const member = await world.addMember({ run: false });
    member.skewMs = days * 24 * 3600_000;
    await world.enrolByItself(member);
    const wanted = await world.deliver(member, 'cache');
    await member.setStatus('cache', { phase: 'Ready' });
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    expect(await verdict(member.agentId)).toBe('FRESH');
    const { ageSeconds } = (await shown(wanted)) as { ageSeconds: number };
    expect(ageSeconds).toBeGreaterThanOrEqual(0);
    expect(ageSeconds).toBeLessThan(30);
  });

  it('a verdict is made by one claimed worker, however many replicas there are', async () => {
    const member = await world.addMember();
    await endGrace();
    silence(member);
    await passUntil(member.agentId, '46 seconds', 'LATE');
    const told = (): Promise<object[]> =>
      world.query(`SELECT 1 FROM change_log WHERE topic = 'memberCluster' AND subject = $1`, [
        member.enrolled.memberClusterId,
      ]);
    const count = (await told()).length;
    await world.query('SELECT pg_sleep(1.2)');
    expect(await told()).toHaveLength(count);
    member.proxy.thaw();
    member.proxy.cut();
  });

  it('a hub that was itself away must not judge: startup grace', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    await member.kill();
    for (const hub of [...world.hubs]) await world.killHub(hub);
    await world.startHub();
    // No look in between: one that sees the old silence without the old pulse would judge at once.
    const looks = await holdClaim(world.hub, 'liveness');
    await pass([member.agentId], '10 minutes');
    await world.query(`UPDATE agent_seen SET verdict = 'FRESH' WHERE agent_id = $1`, [member.agentId]);
    // The first look after the outage: the pulse is old.
    await world.query(`UPDATE liveness_pulse SET at = now() - interval '10 minutes', grace_until = now()`);
    await looks.release();
    await world.until(true, async () => {
      const rows = await world.query<{ looked: boolean }>(
        `SELECT at > now() - interval '1 minute' AS looked FROM liveness_pulse`,
      );
      return rows[0]?.looked;
    });
    expect(await verdict(member.agentId)).toBe('FRESH');
    await endGrace();
    await world.until('UNKNOWN', () => verdict(member.agentId));
    member.run();
    await world.untilConnected(member);
    await world.startHub();
  });

  it('loss of contact never moves data by itself, however often it comes and goes', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await world.untilInSync(member);
    const desired = (): Promise<object[]> =>
      world.query(
        `SELECT r.agent_id, r.member_cluster_id, r.hub_generation, r.deletion, h.revision, d.state FROM resource AS r
         JOIN agent_spec_head AS h ON h.agent_id = r.agent_id JOIN delivery AS d ON d.hub_uid = r.hub_uid
         WHERE r.hub_uid = $1`,
        [wanted.hubUid],
      );
    const before = await desired();
    const writes = member.writes();
    for (let times = 0; times < 3; times += 1) {
      silence(member);
      await endGrace();
      await passUntil(member.agentId, '10 minutes', 'UNKNOWN');
      expect(await desired()).toEqual(before);
      member.proxy.thaw();
      member.proxy.cut();
      await world.until('FRESH', () => verdict(member.agentId));
    }
    await world.untilInSync(member);
    expect(await desired()).toEqual(before);
    expect(member.writes()).toEqual(writes);
  });

  it('no mass verdict over 20 % of the fleet on one look', async () => {
    const agentIds: string[] = [];
    for (let count = 0; count < 8; count += 1) agentIds.push((await enrolAgent(world.hub)).agentId);
    await endGrace();
    await world.query(
      `INSERT INTO agent_seen (agent_id, seen_at, verdict) SELECT id, now() - interval '2 minutes', 'FRESH' FROM unnest($1::uuid[]) AS id`,
      [agentIds],
    );
    // The look took place: all of them are LATE by now, and none was given up.
    await world.until(
      agentIds.map(() => 'LATE'),
      () => Promise.all(agentIds.map(verdict)),
    );
  });
});
