/**
 * 03 "Identity and trust": to replace a member cluster is an approved flow of its own. Its objects are handed to the agent that
 * takes the place of the old one; nothing is deleted, and nothing is made anew by itself.
 */
import { digestOf } from '#protocol';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import type { Json } from '../api-client.ts';
import { startApi, type Api } from '../api-fixture.ts';
import { enrolAgent, type Enrolled, openSession, readDelivery, unwant, want, type Wanted } from '../link-fixture.ts';
import { createIdentity, TestAgent, type TestIdentity } from '../test-agent.ts';
import { WAIT } from '../wait.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const PLACE = { namespace: 'default', name: 'cache' };
const FIELDS = 'agent { id state } memberCluster { name fingerprint } hubUids userErrors { code message }';

/** A member cluster with one object that its agent has applied, in a session that lives. */
async function settle(): Promise<{ old: Enrolled; wanted: Wanted; agent: TestAgent }> {
  const old = await enrolAgent(api.hub);
  const { agent } = await openSession(api.hub, old);
  const wanted = await want(api.hub, old, 'cache');
  const { revision } = await agent.next('Delta');
  agent.send('DesiredAck', { revision, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
  await vi.waitFor(
    async () => expect(await readDelivery(api.hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
    WAIT,
  );
  return { old, wanted, agent };
}

/** An agent that has enrolled under a name of its own, and waits. */
async function come(): Promise<{ identity: TestIdentity; agentId: string }> {
  const name = `again-${randomUUID().slice(0, 8)}`;
  const payload = await api.admin.mutate('enrolMemberCluster', { name }, 'agent { id } token');
  const identity = createIdentity();
  const agent = await TestAgent.connect(api.hub, identity);
  agent.enrol(String(payload['token']));
  await agent.next('EnrolPending');
  agent.close();
  return { identity, agentId: String((payload['agent'] as Json)['id']) };
}

async function readAgentId(globalId: string): Promise<string> {
  const [row] = await api.hub.runtime.dataSource.query<{ id: string }[]>(
    `SELECT id FROM agent WHERE state = 'ACTIVE' ORDER BY approved_at DESC LIMIT 1`,
  );
  expect(encodeGlobalId('Agent', row?.id ?? '')).toBe(globalId);
  return row?.id ?? '';
}

/** `before`: what happens to the object before its member cluster is replaced. */
async function replace(
  before: (old: Enrolled, wanted: Wanted) => Promise<void> = () => Promise.resolve(),
): Promise<{ wanted: Wanted; successor: TestAgent }> {
  const { old, wanted, agent } = await settle();
  await before(old, wanted);
  const { sessionNo } = (await openSession(api.hub, old)).welcome;
  const next = await come();
  const memberClusterId = encodeGlobalId('MemberCluster', old.memberClusterId);
  const payload = await api.admin.mutate('replaceMemberCluster', { memberClusterId, agentId: next.agentId }, FIELDS);
  expect(payload).toMatchObject({
    agent: { id: next.agentId, state: 'ACTIVE' },
    memberCluster: { fingerprint: next.identity.fingerprint },
    hubUids: [wanted.hubUid],
    userErrors: [],
  });
  expect(await agent.waitForClose()).toBeGreaterThan(1000);
  const late = await TestAgent.connect(api.hub, old.identity);
  late.hello();
  expect(await late.next('Refused')).toMatchObject({ code: 'AGENT_REVOKED' });
  const successor = await TestAgent.connect(api.hub, {
    ...next.identity,
    agentId: await readAgentId(next.agentId),
  });
  successor.hello();
  const welcome = await successor.next('Welcome');
  expect(welcome.mode).toBe('INVENTORY');
  expect(welcome.sessionNo).toBeGreaterThan(sessionNo);
  return { wanted, successor };
}

describe('replaceMemberCluster', () => {
  it('finds again what is there: a reinstalled agent, a cluster restored from a backup', async () => {
    const { wanted, successor } = await replace();
    const { hubUid, hubGeneration, specHash } = wanted;
    successor.send('InventoryChunk', {
      objects: [{ hubUid, hubGeneration, specHash, ...PLACE, unclaimed: false }],
      last: true,
    });
    await vi.waitFor(async () => expect(await readDelivery(api.hub, hubUid)).toMatchObject({ state: 'APPLIED' }), WAIT);
    const item = { hubUid, ...PLACE, uid: randomUUID(), kind: 'RedisCluster', phase: 'Ready' };
    successor.send('StatusBatch', { counter: 0, items: [{ ...item, conditions: [], pods: [], foreignFields: [] }] });
    await successor.next('StatusAck');
    const rows = await api.hub.runtime.dataSource.query<{ phase: string }[]>(
      'SELECT phase FROM resource_status WHERE hub_uid = $1',
      [hubUid],
    );
    expect(rows).toEqual([{ phase: 'Ready' }]);
    successor.close();
  });

  it('shows what is not there, in a rebuilt cluster, and makes nothing anew by itself', async () => {
    const { wanted, successor } = await replace();
    successor.send('InventoryChunk', { objects: [], last: true });
    await vi.waitFor(
      async () =>
        expect(await readDelivery(api.hub, wanted.hubUid)).toMatchObject({
          state: 'DELETED_LOCALLY',
          create_allowed: false,
        }),
      WAIT,
    );
    await successor.next('SnapshotEnd');
    successor.close();
  });

  it.each(['of its own', 'with an approval'])(
    'lets a delete that waited (%s) take nothing away in the new place before somebody says so again',
    async (how) => {
      const { wanted, successor } = await replace(async (old, { hubUid }) => {
        await unwant(api.hub, old, hubUid);
        if (how === 'of its own') return;
        const input = { redisClusterIds: [encodeGlobalId('RedisCluster', hubUid)] };
        expect((await api.admin.mutate('approveDeletes', input, 'approvalId'))['userErrors']).toEqual([]);
      });
      const { hubUid, hubGeneration, specHash } = wanted;
      const waits = { state: 'WAITING', code: 'DELETE_BEFORE_REPLACEMENT' };
      expect(await readDelivery(api.hub, hubUid)).toMatchObject(waits);
      successor.send('InventoryChunk', {
        objects: [{ hubUid, hubGeneration, specHash, ...PLACE, unclaimed: false }],
        last: true,
      });
      const end = await successor.next('SnapshotEnd');
      // Named as known, so that the agent does not call it UNCLAIMED.
      expect(end).toMatchObject({ tombstones: [], held: [hubUid] });
      successor.send('DesiredAck', { revision: end.revision, outcomes: [], digest: digestOf([wanted]) });
      expect(await readDelivery(api.hub, hubUid)).toMatchObject(waits);
      const id = encodeGlobalId('RedisCluster', hubUid);
      if (how === 'of its own') {
        await api.admin.mutate('deleteRedisCluster', { id, expectedGeneration: null }, 'redisCluster { id }');
      } else await api.admin.mutate('approveDeletes', { redisClusterIds: [id] }, 'approvalId');
      expect((await successor.next('Delta')).tombstones).toMatchObject([{ hubUid, operation: 'DELETE' }]);
      successor.close();
    },
  );

  it('is refused without an agent to replace, and audited', async () => {
    const { old } = await settle();
    const other = await come();
    const wrong = await api.admin.mutate(
      'replaceMemberCluster',
      { memberClusterId: encodeGlobalId('MemberCluster', randomUUID()), agentId: other.agentId },
      FIELDS,
    );
    expect(wrong).toMatchObject({ agent: null, hubUids: [], userErrors: [{ code: 'NOT_FOUND' }] });
    const rows = await api.hub.runtime.dataSource.query<{ state: string }[]>('SELECT state FROM agent WHERE id = $1', [
      old.agentId,
    ]);
    expect(rows).toEqual([{ state: 'ACTIVE' }]);
    const audited = await api.hub.runtime.dataSource.query<{ result: string }[]>(
      `SELECT result FROM audit WHERE action = 'replaceMemberCluster' ORDER BY seq`,
    );
    expect(audited.map(({ result }) => result)).toEqual(['OK', 'OK', 'OK', 'OK', 'REFUSED']);
  });
});
