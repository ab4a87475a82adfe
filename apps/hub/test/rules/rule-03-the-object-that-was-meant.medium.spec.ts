/**
 * Rule 3: a delete is about the object that the hub knew when somebody asked for it, or approved it. What was put back since under
 * the same hubUid, as another Kubernetes object, is kept until a person approves its delete; what the agent itself made
 * anew is no stranger.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { digestOf } from '#protocol';
import { RESOURCE } from '#kube';

import { PersonWatch } from '../../src/features/agent-link/index.ts';
import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { ApiClient, type Json } from '../api-client.ts';
import { enrolAgent, openSession, readDelivery, unwant, want, type Enrolled, type Wanted } from '../link-fixture.ts';
import type { TestAgent } from '../test-agent.ts';
import { WAIT } from '../wait.ts';
import { NAMESPACE, PATIENT, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

const IS_BACK = 'REJECTED DELETED_OBJECT_IS_BACK';

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
  api.mutate(mutation, { id: idOf(wanted), expectedGeneration: null }, 'redisCluster { delivery { state code } }');
const approve = (wanted: Wanted): Promise<Json> =>
  api.mutate('approveDeletes', { redisClusterIds: [idOf(wanted)] }, 'approvalId');
const uidOf = async (member: RuleMember, name: string): Promise<string | undefined> =>
  (await member.find(name))?.metadata.uid;

/** As by a backup tool: the object goes, and comes back with its annotations as another one. Returns the new uid. */
async function exchange(member: RuleMember, name: string): Promise<string> {
  const { apiVersion, kind, metadata, spec } = (await member.find(name)) ?? {};
  const at = { namespace: NAMESPACE, name };
  await member.client.delete(RESOURCE.redisCluster, at);
  const { annotations = {} } = metadata ?? {};
  const made = await member.client.create({ apiVersion, kind, metadata: { ...at, annotations }, spec } as never);
  expect(made.metadata.uid).not.toBe(metadata?.uid);
  return made.metadata.uid ?? '';
}

async function memberWith(
  name: string,
  parts: RuleMember['parts'] = {},
): Promise<{ readonly member: RuleMember; readonly wanted: Wanted }> {
  const member = await world.addMember({ parts });
  return { member, wanted: await world.deliver(member, name) };
}

/** The agent comes, keeps the object, which is told to whoever watches, and deletes it when a person has approved that since. */
async function expectKeptUntilApproved(member: RuleMember, name: string, wanted: Wanted): Promise<void> {
  const uid = (await uidOf(member, name)) ?? '';
  member.run();
  // Inventories are compared meanwhile, so it may be sent and refused once more.
  const tellsWhich = `SELECT 1 AS told FROM delivery WHERE hub_uid = $1 AND state || ' ' || code = $2 AND message LIKE '%' || $3 || '%'`;
  await world.until([{ told: 1 }], () => world.query(tellsWhich, [wanted.hubUid, IS_BACK, uid]));
  expect(await uidOf(member, name)).toBe(uid);
  await world.until(true, async () => {
    await world.hub.app.get(PersonWatch).look();
    const { values } = await world.hub.runtime.metrics.deletesHeld.get();
    return (values[0]?.value ?? 0) > 0;
  });
  await approve(wanted);
  await world.untilDelivery(wanted, 'GONE');
  expect(await member.names()).toEqual([]);
}

describe.concurrent('rule 3, an object that was put back while its agent was away', () => {
  it('after its delete was asked for is kept, until a person approves the delete of this one', async () => {
    const { member, wanted } = await memberWith('asked');
    await member.stop();
    await ask('deleteRedisCluster', wanted);
    await exchange(member, 'asked');
    await expectKeptUntilApproved(member, 'asked', wanted);
  });

  it('after its delete was approved is kept from that approval, also by an agent that lost its memory', async () => {
    const { member, wanted } = await memberWith('approved');
    await member.kill();
    await member.loseMemory();
    await ask('deleteRedisCluster', wanted);
    await approve(wanted);
    await exchange(member, 'approved');
    await expectKeptUntilApproved(member, 'approved', wanted);
  });

  it('is kept when its delete was let go in between and asked for again under the old approval', async () => {
    const { member, wanted } = await memberWith('stretched');
    await member.stop();
    await ask('deleteRedisCluster', wanted);
    await approve(wanted);
    await exchange(member, 'stretched');
    // The hub may hear of the new one in between; the approval was about the one before all the same.
    await world.query(`UPDATE resource SET told_uid = $2 WHERE hub_uid = $1`, [
      wanted.hubUid,
      await uidOf(member, 'stretched'),
    ]);
    await ask('forgetRedisCluster', wanted);
    await ask('deleteRedisCluster', wanted);
    await expectKeptUntilApproved(member, 'stretched', wanted);
  });

  it('and told before its delete is asked for is the one that is meant', async () => {
    const { member, wanted } = await memberWith('told');
    await member.stop();
    const uid = await exchange(member, 'told');
    member.run();
    await world.until(uid, async () => (await world.status<{ kube_uid: string }>(wanted))?.kube_uid);
    await ask('deleteRedisCluster', wanted);
    await world.untilDelivery(wanted, 'GONE');
    expect(await member.names()).toEqual([]);
  });
});

describe.concurrent('rule 3, an object that the agent made anew', () => {
  it('after Recreate is deleted without a person, though its status is not heard of yet', async () => {
    const { member, wanted } = await memberWith('again');
    await world.until(true, async () => (await world.status(wanted)) !== undefined);
    await member.client.delete(RESOURCE.redisCluster, { namespace: NAMESPACE, name: 'again' });
    await world.untilDelivery(wanted, 'DELETED_LOCALLY DELETED_LOCALLY');
    await world.until(true, async () => (await world.status<{ gone: boolean }>(wanted))?.gone);
    await ask('recreateRedisCluster', wanted);
    await world.untilDelivery(wanted, 'APPLIED');
    await ask('deleteRedisCluster', wanted);
    await world.untilDelivery(wanted, 'GONE');
    expect(await member.names()).toEqual([]);
  });

  it('is deleted without a person when the ack of its creation was lost', async () => {
    const { member, wanted } = await memberWith('unheard', PATIENT);
    await member.client.delete(RESOURCE.redisCluster, { namespace: NAMESPACE, name: 'unheard' });
    await world.untilDelivery(wanted, 'DELETED_LOCALLY DELETED_LOCALLY');
    member.proxy.freeze('UP');
    await ask('recreateRedisCluster', wanted);
    await world.until(['unheard'], () => member.names());
    await member.kill();
    await ask('deleteRedisCluster', wanted);
    member.proxy.thaw();
    member.run();
    await world.untilDelivery(wanted, 'GONE');
    expect(await member.names()).toEqual([]);
  });
});

interface Scene {
  readonly enrolled: Enrolled;
  readonly agent: TestAgent;
  readonly wanted: Wanted;
}

/** An object that its agent has applied; `uid`: as it says with that, an older one says none. */
async function applied(uid?: string): Promise<Scene> {
  const enrolled = await enrolAgent(world.hub);
  const { agent } = await openSession(world.hub, enrolled);
  const wanted = await want(world.hub, enrolled, 'object');
  const { revision } = await agent.next('Delta');
  const outcome = { ...wanted, state: 'APPLIED' as const, ...(uid === undefined ? {} : { uid }) };
  agent.send('DesiredAck', { revision, outcomes: [outcome], digest: digestOf([wanted]) });
  await vi.waitFor(
    async () => expect(await readDelivery(world.hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
    WAIT,
  );
  return { enrolled, agent, wanted };
}

async function tell({ agent, wanted }: Scene, counter: number, uid: string, gone = false): Promise<void> {
  const item = { hubUid: wanted.hubUid, namespace: 'default', name: 'object', uid, kind: 'RedisCluster' };
  const states = { conditions: [], pods: [], foreignFields: [], ...(gone ? { gone } : {}) };
  agent.send('StatusBatch', { counter, items: [{ ...item, ...states }] });
  await agent.next('StatusAck');
}

/** What the tombstone names when somebody asks for the delete now. */
async function named({ enrolled, agent, wanted }: Scene): Promise<readonly string[] | undefined> {
  await unwant(world.hub, enrolled, wanted.hubUid);
  const { tombstones } = await agent.next('Delta');
  agent.close();
  expect(tombstones).toHaveLength(1);
  return tombstones[0]?.uids;
}

describe.concurrent('rule 3, the uids that a tombstone names', () => {
  it('are those that the agent has told, with an outcome or with its status; none when it told none', async () => {
    const [said, seen] = [randomUUID(), randomUUID()];
    expect(await named(await applied())).toBeUndefined();
    expect(await named(await applied(said))).toEqual([said]);
    const scene = await applied();
    await tell(scene, 0, seen);
    expect(await named(scene)).toEqual([seen]);
  });

  it('are not those of a status that comes late', async () => {
    const scene = await applied();
    const [before, now] = [randomUUID(), randomUUID()];
    await tell(scene, 1, now);
    await tell(scene, 0, before);
    expect(await named(scene)).toEqual([now]);
  });

  it('are none when an older agent has made anew what its status calls gone', async () => {
    const scene = await applied();
    const { enrolled, agent, wanted } = scene;
    await tell(scene, 0, randomUUID(), true);
    await world.query('UPDATE resource SET create_allowed = true, hub_generation = 2 WHERE hub_uid = $1', [
      wanted.hubUid,
    ]);
    const again = { ...wanted, hubGeneration: 2 };
    agent.send('DesiredAck', {
      revision: 1,
      outcomes: [{ ...again, state: 'APPLIED' }],
      digest: digestOf([again]),
    });
    await vi.waitFor(
      async () => expect(await readDelivery(world.hub, wanted.hubUid)).toMatchObject({ create_allowed: false }),
      WAIT,
    );
    expect(await named({ enrolled, agent, wanted })).toBeUndefined();
  });

  it('are none of another member cluster, whichever release moved the object', async () => {
    const scene = await applied(randomUUID());
    await tell(scene, 0, randomUUID());
    scene.agent.close();
    const next = await enrolAgent(world.hub);
    await world.query('UPDATE resource SET agent_id = $2 WHERE hub_uid = $1', [scene.wanted.hubUid, next.agentId]);
    const { agent } = await openSession(world.hub, next, { hubEpoch: world.hub.runtime.identity.hubEpoch });
    expect(await named({ enrolled: next, agent, wanted: scene.wanted })).toBeUndefined();
  });

  it('are in the audit of who asked, and of who approved', async () => {
    const uid = randomUUID();
    const { agent, wanted } = await applied(uid);
    agent.close();
    await ask('deleteRedisCluster', wanted);
    await approve(wanted);
    const audited = await world.query<{ action: string }>(
      `SELECT action FROM audit WHERE after -> 'kubernetesUids' IN (jsonb_build_array($1::text), jsonb_build_object($2::text,
         jsonb_build_array($1::text))) ORDER BY seq`,
      [uid, wanted.hubUid],
    );
    expect(audited.map(({ action }) => action)).toEqual(['deleteRedisCluster', 'approveDeletes']);
  });
});

describe('rule 3, an object that was put back and whose approved delete was refused', () => {
  it('is not hidden by the end of that approval: whoever would approve again is told that it is another one', async () => {
    const [before, now] = [randomUUID(), randomUUID()];
    const { enrolled, agent: first, wanted } = await applied(before);
    first.close();
    await first.waitForClose();
    await ask('deleteRedisCluster', wanted);
    await approve(wanted);
    const { hubEpoch } = world.hub.runtime.identity;
    const hello = { hubEpoch, appliedRevision: 1, specDigest: digestOf([wanted]) };
    const { agent } = await openSession(world.hub, enrolled, hello);
    const { revision } = await agent.next('Delta');
    const kept = { state: 'REJECTED', code: 'DELETED_OBJECT_IS_BACK' } as const;
    const outcome = { hubUid: wanted.hubUid, hubGeneration: 0, ...kept, message: 'kept', retryable: false, uid: now };
    agent.send('DesiredAck', { revision, outcomes: [outcome], digest: digestOf([wanted]) });
    await vi.waitFor(async () => expect(await readDelivery(world.hub, wanted.hubUid)).toMatchObject(kept), WAIT);

    const ended = `UPDATE delete_approval SET expires_at = now() - interval '1 second' WHERE $1 = ANY (hub_uids)`;
    await world.query(ended, [wanted.hubUid]);
    await world.query('UPDATE delivery SET next_attempt_at = now() WHERE hub_uid = $1', [wanted.hubUid]);
    expect((await agent.next('Delta')).tombstones).toMatchObject([{ hubUid: wanted.hubUid, uids: [before] }]);
    expect(await readDelivery(world.hub, wanted.hubUid)).toMatchObject(kept);
    agent.close();
    await agent.waitForClose();

    await world.query('UPDATE agent_spec_head SET inventory_needed = true WHERE agent_id = $1', [enrolled.agentId]);
    const { agent: compared } = await openSession(world.hub, enrolled, hello);
    compared.send('InventoryChunk', { objects: [], last: true });
    expect(await compared.next('SnapshotEnd')).toMatchObject({ tombstones: [], held: [wanted.hubUid] });
    const [told] = await world.query<object>('SELECT code, message FROM delivery WHERE hub_uid = $1', [wanted.hubUid]);
    expect(told).toEqual({
      code: 'DELETE_BREAKER',
      message: expect.stringContaining('what is there now has another uid') as unknown,
    });
    compared.close();
  });
});

describe('rule 3, what a tombstone names', () => {
  it('outlives the replica that was asked, and its hub', async () => {
    const { member, wanted } = await memberWith('outlived');
    await member.stop();
    await ask('deleteRedisCluster', wanted);
    await api.close();
    await world.killHub();
    await world.startHub();
    api = await ApiClient.admin(world.hub);
    await exchange(member, 'outlived');
    await expectKeptUntilApproved(member, 'outlived', wanted);
  });
});
