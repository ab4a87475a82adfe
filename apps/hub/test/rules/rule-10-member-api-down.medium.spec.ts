import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { ApiClient } from '../api-client.ts';
import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

const inventory = async (member: RuleMember): Promise<unknown> => {
  const rows = await world.query<{ inventory: string; state: string }>(
    'SELECT inventory, state FROM agent_session WHERE agent_id = $1',
    [member.agentId],
  );
  return rows[0];
};

/** What a user is told of the agent. */
const problem = async (member: RuleMember): Promise<unknown> => {
  const api = await ApiClient.admin(world.hub);
  const query = 'query Q($id: ID!) { node(id: $id) { ... on Agent { connected problem { code } } } }';
  const answer = await api.query(query, { id: encodeGlobalId('Agent', member.agentId) });
  await api.close();
  return answer.data['node'];
};

describe.concurrent("rule 10, the member's API server away", () => {
  it('is MEMBER_API_DOWN, not a disconnect: the session stays and the inventory is UNKNOWN', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    const before = await world.session(member);
    await member.kube.stop();
    await world.until({ inventory: 'UNKNOWN', state: 'CONNECTED' }, () => inventory(member));
    expect(await problem(member)).toEqual({ connected: true, problem: { code: 'MEMBER_API_DOWN' } });
    await member.kube.listen();
    await world.until({ inventory: 'SYNCED', state: 'CONNECTED' }, () => inventory(member));
    expect(await problem(member)).toEqual({ connected: true, problem: null });
    expect((await world.session(member)).sessionNo).toBe(before.sessionNo);
  });

  it('holds the revision back, and what was wanted meanwhile is applied after it', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    await member.kube.stop();
    const wanted = await world.want(member, 'later');
    await settle();
    expect(await world.delivery(wanted)).toBe('PENDING');
    expect(member.link.state()).toMatchObject({ connected: true, appliedRevision: 1 });
    await member.kube.listen();
    await world.untilDelivery(wanted, 'APPLIED');
    await world.untilInSync(member);
  });

  it('digests, inventory and gone count only when SYNCED: a new session in the outage calls nothing gone', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await world.until(1, async () => ((await world.status(wanted)) === undefined ? 0 : 1));
    await member.kube.stop();
    await world.until({ inventory: 'UNKNOWN', state: 'CONNECTED' }, () => inventory(member));
    // As after a restore: both sides must compare, and the agent cannot see what it holds.
    await world.query('UPDATE agent_spec_head SET inventory_needed = true WHERE agent_id = $1', [member.agentId]);
    const { sessionNo } = await world.session(member);
    member.proxy.cut();
    await world.until(sessionNo + 1, async () => (await world.session(member)).sessionNo);
    await settle();
    expect(await world.delivery(wanted)).toBe('APPLIED');
    expect(await world.status<{ gone: boolean }>(wanted)).toMatchObject({ gone: false });
    await member.kube.listen();
    await world.untilInSync(member);
    expect(await world.delivery(wanted)).toBe('APPLIED');
  });

  it('the last Lease holder keeps the link to report this, and writes nothing', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache');
    const writes = member.writes().length;
    // It cannot renew its lease, so it is too old to write; nobody else can take it either.
    member.fence = false;
    await member.kube.stop();
    const wanted = await world.want(member, 'later');
    await world.until({ inventory: 'UNKNOWN', state: 'CONNECTED' }, () => inventory(member));
    await member.kube.listen();
    await world.until({ inventory: 'SYNCED', state: 'CONNECTED' }, () => inventory(member));
    await settle();
    expect(member.writes()).toHaveLength(writes);
    expect(await world.delivery(wanted)).toBe('PENDING');
    member.fence = true;
    await world.untilDelivery(wanted, 'APPLIED');
  });

  // The hub writes a change of the inventory at most once in 5 s an agent, and four of them are waited for.
  it(
    'over, everything is watched again: an edit by hand after the outage shows as drift',
    { timeout: 60_000 },
    async () => {
      const member = await world.addMember();
      const wanted = await world.deliver(member, 'cache', { mode: 'Replication', size: 2 });
      for (let times = 0; times < 2; times += 1) {
        await member.kube.stop();
        await world.until({ inventory: 'UNKNOWN', state: 'CONNECTED' }, () => inventory(member));
        await member.kube.listen();
        await world.until({ inventory: 'SYNCED', state: 'CONNECTED' }, () => inventory(member));
      }
      await member.edit('cache', { size: 5 });
      await world.until([{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' }], async () => {
        return (await world.status<{ foreign_fields: unknown }>(wanted))?.foreign_fields;
      });
    },
  );
});
