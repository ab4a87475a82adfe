import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { digestOf, generateKeyPair, keyRotationSigningInput, signInput } from '#protocol';

import { type Enrolled, enrolAgent, openSession, want, type Wanted } from '../link-fixture.ts';
import type { TestAgent } from '../test-agent.ts';
import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
let member: RuleMember;
beforeAll(async () => {
  world = await RuleWorld.start({ replicas: 2 });
  member = await world.addMember();
});
afterAll(() => world.close());

const NOW = new Date().toISOString();
const PLACE = { namespace: 'default', name: 'cache' } as const;
const needInventory = ({ agentId }: Enrolled): Promise<unknown> =>
  world.query('UPDATE agent_spec_head SET inventory_needed = true WHERE agent_id = $1', [agentId]);
/** Everything that a session may write, and its end. */
const WRITES: Readonly<Record<string, (agent: TestAgent, wanted: Wanted, enrolled: Enrolled) => void>> = {
  DesiredAck: (agent, wanted) =>
    agent.send('DesiredAck', { revision: 1, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) }),
  StatusBatch: (agent, { hubUid }) =>
    agent.send('StatusBatch', {
      counter: 0,
      items: [
        {
          ...PLACE,
          hubUid,
          observedHubGeneration: 1,
          uid: 'u',
          kind: 'RedisCluster',
          phase: 'Late',
          conditions: [],
          pods: [],
          foreignFields: [],
        },
      ],
    }),
  EventBatch: (agent, { hubUid }) =>
    agent.send('EventBatch', {
      counter: 0,
      items: [{ ...PLACE, hubUid, severity: 'Warning', reason: 'Late', message: 'm', first: NOW, last: NOW, count: 1 }],
    }),
  Heartbeat: (agent) => agent.send('Heartbeat', { inventory: 'UNKNOWN' }),
  InventoryChunk: (agent) => agent.send('InventoryChunk', { objects: [], last: true }),
  KeyRotation: (agent, _, { identity, agentId }) => {
    const { publicKey } = generateKeyPair();
    const signature = signInput(identity.keys.privateKeyPem, keyRotationSigningInput(publicKey, agentId));
    agent.send('KeyRotation', { newPublicKey: publicKey, signature });
  },
  'the end': (agent) => agent.cut(),
};

/** A session in which this kind of frame would be written, and an object that is on its way to it. */
async function openFor(kind: string): Promise<{ enrolled: Enrolled; agent: TestAgent; wanted: Wanted }> {
  const { hub } = await world.behindProxy();
  const enrolled = await enrolAgent(hub);
  if (kind === 'InventoryChunk') await needInventory(enrolled);
  const { agent } = await openSession(hub, enrolled);
  const wanted = await want(hub, enrolled, 'cache');
  if (kind !== 'InventoryChunk') await agent.next('Delta');
  return { enrolled, agent, wanted };
}

describe('rule 7, session fencing', () => {
  it('each accepted Hello raises session_no', async () => {
    const before = await world.session(member);
    member.proxy.cut();
    await world.until(before.sessionNo + 1, async () => (await world.session(member)).sessionNo);
    await world.untilConnected(member);
  });

  it('every later write carries it: what an older session sent and arrives late is not written', async () => {
    const wanted = await world.deliver(member, 'late');
    await member.setStatus('late', { phase: 'Creating' });
    await world.until('Creating', async () => (await world.status(wanted))?.phase);
    const old = await world.session(member);
    member.proxy.freeze('UP');
    await member.setStatus('late', { phase: 'Degraded' });
    await settle();
    // The agent hears nothing any more, gives up, and reaches the other replica; its own words are still on the way.
    member.proxy.freeze();
    const [, other] = world.hubs;
    if (other !== undefined) world.route(other, member);
    await world.until(false, () => Promise.resolve(member.isConnected));
    await member.setStatus('late', { phase: 'Ready' });
    member.proxy.thaw();
    await world.untilConnected(member);
    await world.until('Ready', async () => (await world.status(wanted))?.phase);
    member.proxy.release();
    await settle();
    const status = await world.status(wanted);
    expect(status).toMatchObject({ phase: 'Ready', session_no: old.sessionNo + 1 });
  });

  it.concurrent.each(Object.keys(WRITES))(
    'every later write carries it: %s of a session that was taken over elsewhere',
    async (kind) => {
      const { enrolled, agent, wanted } = await openFor(kind);
      // Another replica has accepted a Hello, and this one has not heard of it yet.
      await world.query('UPDATE agent_session SET session_no = session_no + 1 WHERE agent_id = $1', [enrolled.agentId]);
      WRITES[kind]?.(agent, wanted, enrolled);
      await settle();
      const [row] = await world.query(
        `SELECT d.state, s.inventory, s.state AS connected, (SELECT count(*)::int FROM resource_status WHERE phase = 'Late') AS statuses,
         (SELECT count(*)::int FROM event WHERE reason = 'Late') AS events,
         a.public_key = $2 AS same_key
       FROM delivery AS d, agent_session AS s, agent AS a WHERE d.hub_uid = $1 AND s.agent_id = $3 AND a.id = $3`,
        [wanted.hubUid, Buffer.from(enrolled.identity.keys.publicKey, 'base64url'), enrolled.agentId],
      );
      expect(row).toEqual({
        state: 'PENDING',
        inventory: 'SYNCED',
        connected: 'CONNECTED',
        statuses: 0,
        events: 0,
        same_key: true,
      });
      agent.cut();
    },
  );

  it.concurrent.each(['DesiredAck', 'InventoryChunk', 'EventBatch', 'KeyRotation'])(
    'revocation is a fence as well, before anybody has told the session: %s is not written',
    async (kind) => {
      const { enrolled, agent, wanted } = await openFor(kind);
      // The hint is lost: the row alone says so.
      await world.query(`UPDATE agent SET state = 'REVOKED' WHERE id = $1`, [enrolled.agentId]);
      WRITES[kind]?.(agent, wanted, enrolled);
      await agent.next('Refused');
      // What is acked is forgotten by its agent, which may be approved again.
      expect(agent.pending('EventAck')).toBe(0);
      const [row] = await world.query(
        `SELECT d.state, h.inventory_needed AS needed, a.public_key = $2 AS same_key,
           (SELECT count(*)::int FROM event WHERE agent_id = a.id) AS events
         FROM delivery AS d, agent_spec_head AS h, agent AS a WHERE d.hub_uid = $1 AND h.agent_id = $3 AND a.id = $3`,
        [wanted.hubUid, Buffer.from(enrolled.identity.keys.publicKey, 'base64url'), enrolled.agentId],
      );
      expect(row).toEqual({ state: 'PENDING', needed: kind === 'InventoryChunk', same_key: true, events: 0 });
      agent.cut();
    },
  );

  it('revocation is a fence as well: what changes after it is not sent, and the agent is told why', async () => {
    const { hub } = await world.behindProxy();
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    await world.query(`UPDATE agent SET state = 'QUARANTINED' WHERE id = $1`, [enrolled.agentId]);
    await want(hub, enrolled, 'cache');
    expect(await agent.next('Refused')).toMatchObject({ code: 'AGENT_QUARANTINED', terminal: true });
    expect(agent.pending('Delta')).toBe(0);
    agent.cut();
  });

  it('the disconnect carries it: the end of an older connection leaves the newer one connected', async () => {
    const before = await world.session(member);
    await member.kill({ silently: true });
    const stale = member.proxy.open;
    member.run();
    await world.untilConnected(member);
    for (const connection of stale) connection.cut();
    await settle();
    expect(await world.session(member)).toMatchObject({ sessionNo: before.sessionNo + 1, state: 'CONNECTED' });
  });

  it('newest wins: an agent that was killed without a farewell is welcomed at once when it comes again', async () => {
    await member.kill({ silently: true });
    const said = member.logged.length;
    member.run();
    await world.untilConnected(member);
    // Nobody waits until the old connection is found dead: the first Hello is the one that is welcomed.
    expect(member.logged.slice(said).filter((line) => line.startsWith('the session with the hub ended'))).toEqual([]);
    await world.untilInSync(member);
  });

  it('newest wins: a Hello that an overtaken connection brings late ends in one session that is in sync', async () => {
    const before = await world.session(member);
    member.proxy.holdNew();
    const older = member.proxy.next();
    member.proxy.cut();
    const overtaken = await older;
    await world.until(false, () => Promise.resolve(member.isConnected));
    // The Hello of this one stays on its way: the Challenge passes, nothing comes back.
    overtaken.hold('UP');
    member.proxy.letThrough(overtaken);
    await world.untilConnected(member);
    const overtaking = await world.session(member);
    expect(overtaking.sessionNo).toBeGreaterThan(before.sessionNo);
    overtaken.release();
    await settle();
    const wanted = await world.deliver(member, 'overtaken');
    await world.untilInSync(member);
    expect(await world.session(member)).toMatchObject({ state: 'CONNECTED' });
    expect(await world.delivery(wanted)).toBe('APPLIED');
  });
});
