/** Rule 2 of the link at the API: what beyond the breaker's limits waits, who lets it through, and what then travels. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EMPTY_DIGEST, type HubPayloads } from '#protocol';
import type { ApiClient, Json } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, startApi, type Api, type Created } from '../../../test/api-fixture.ts';
import { enrolAgent, openSession, readDelivery, type Enrolled } from '../../../test/link-fixture.ts';
import type { TestAgent } from '../../../test/test-agent.ts';
import { encodeGlobalId } from '../../platform/graphql/index.ts';
import { PersonWatch } from '../agent-link/index.ts';
import { WAIT } from '../../../test/wait.ts';

const FIELDS = 'redisCluster { id deleting delivery { state sync code message } }';
const APPROVED = 'approvalId expiresAt redisClusters { id delivery { state code } }';
const codes = (payload: Json): unknown[] =>
  (payload['userErrors'] as unknown as { code: string }[]).map((error) => error.code);

describe('rule 2: many deletes', () => {
  let api: Api;
  let agent: Enrolled;
  let memberClusterId: string;
  let session: TestAgent;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  const makeMember = async (): Promise<void> => {
    agent = await enrolAgent(api.hub);
    memberClusterId = encodeGlobalId('MemberCluster', agent.memberClusterId);
    ({ agent: session } = await openSession(api.hub, agent));
    // The fleet of the test before is none of this one's.
    await api.hub.runtime.dataSource.query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
  };
  const make = async (count: number): Promise<Created[]> => {
    const made: Created[] = [];
    for (let index = 0; index < count; index += 1) made.push(await createRedisCluster(api, { memberClusterId }));
    return made;
  };
  const remove = ({ id }: Created, client: ApiClient = api.admin): Promise<Json> =>
    client.mutate('deleteRedisCluster', { id, expectedGeneration: null }, FIELDS);
  const approve = (made: readonly Created[], input: object = {}, client: ApiClient = api.admin): Promise<Json> =>
    client.mutate('approveDeletes', { redisClusterIds: made.map(({ id }) => id), ...input }, APPROVED);
  /** Acks every Delta with nothing to say, and collects the tombstones until there are so many. */
  const collect = async (from: TestAgent, count: number): Promise<HubPayloads['Delta']['tombstones'][number][]> => {
    const seen = new Map<string, HubPayloads['Delta']['tombstones'][number]>();
    while (seen.size < count) {
      const { revision, tombstones } = await from.next('Delta');
      for (const tombstone of tombstones) seen.set(tombstone.hubUid, tombstone);
      from.send('DesiredAck', { revision, outcomes: [], digest: EMPTY_DIGEST });
    }
    return [...seen.values()];
  };

  it('of one agent: the fourth says at once that it waits, and what to do', async () => {
    await makeMember();
    const made = await make(4);
    const answers: Json[] = [];
    for (const one of made) answers.push(await remove(one));
    for (const answer of answers.slice(0, 3)) {
      expect(answer).toMatchObject({ redisCluster: { deleting: true, delivery: { state: 'PENDING', code: null } } });
    }
    expect(answers[3]).toMatchObject({
      redisCluster: { deleting: true, delivery: { state: 'WAITING', sync: 'DELETING', code: 'DELETE_BREAKER' } },
      userErrors: [],
    });
    expect(JSON.stringify(answers[3])).toContain('approveDeletes');
    await api.hub.app.get(PersonWatch).look();
    expect((await api.hub.runtime.metrics.deletesHeld.get()).values).toMatchObject([{ value: 1 }]);
  });

  it('do not go by themselves when the window has passed, and go with their approval', async () => {
    await makeMember();
    const made = await make(5);
    for (const one of made) await remove(one);
    const held = made.slice(3);
    expect((await collect(session, 3)).map(({ hubUid }) => hubUid).sort()).toEqual(
      made
        .slice(0, 3)
        .map(({ hubUid }) => hubUid)
        .sort(),
    );
    await api.hub.runtime.dataSource.query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
    session.close();
    await session.waitForClose();
    const { hubEpoch } = api.hub.runtime.identity;
    const { agent: second } = await openSession(api.hub, agent, { hubEpoch, appliedRevision: 10 });
    const again = await second.next('Delta');
    expect(again.tombstones).toHaveLength(3);
    second.send('DesiredAck', { revision: again.revision, outcomes: [], digest: EMPTY_DIGEST });
    expect(await readDelivery(api.hub, held[0]?.hubUid ?? '')).toMatchObject({ code: 'DELETE_BREAKER' });

    const answer = await approve(held, { expiresInSeconds: 600 });
    expect(answer).toMatchObject({
      redisClusters: held.map(({ id }) => ({ id, delivery: { state: 'PENDING', code: null } })),
      userErrors: [],
    });
    const carried = await collect(second, 2);
    for (const { hubUid } of held) {
      expect(carried.find((tombstone) => tombstone.hubUid === hubUid)?.approval).toEqual({
        id: answer['approvalId'],
        hubUids: [hubUid],
        expiresAt: String(answer['expiresAt']).replace(/\.\d+Z$/, 'Z'),
      });
    }
    second.close();
  });

  it('of one actor wait, wherever the objects are, and those of another actor do not', async () => {
    await makeMember();
    const { principalId } = (
      await api.hub.runtime.dataSource.query<{ principalId: string }[]>(
        `SELECT principal_id AS "principalId" FROM role_binding WHERE role = 'ADMIN' AND project_id IS NULL LIMIT 1`,
      )
    )[0] ?? { principalId: '' };
    const { limits } = { limits: api.hub.runtime.config.deleteLimits };
    // The actor has just deleted elsewhere; the fleet as a whole is below its limit.
    await api.hub.runtime.dataSource.query(
      `INSERT INTO tombstone_release (hub_uid, agent_id, released_at, actor)
       SELECT gen_random_uuid(), gen_random_uuid(), now(), $2 FROM generate_series(1, $1)`,
      [limits.perActor - 1, principalId],
    );
    const [first, second, third] = await make(3);
    expect(await remove(first!)).toMatchObject({ redisCluster: { delivery: { state: 'PENDING' } } });
    expect(JSON.stringify(await remove(second!))).toContain('by one actor');
    // The same deletes by many others, one fewer, as the fleet's limit counts them too.
    await api.hub.runtime.dataSource.query('DELETE FROM tombstone_release WHERE hub_uid = $1', [first!.hubUid]);
    await api.hub.runtime.dataSource.query('UPDATE tombstone_release SET actor = hub_uid::text');
    expect(await remove(third!)).toMatchObject({ redisCluster: { delivery: { state: 'PENDING', message: null } } });
  });

  it('are approved by an ADMIN alone, all or none, and only when their delete was asked for', async () => {
    await makeMember();
    const made = await make(2);
    const [doomed, kept] = made as [Created, Created];
    await remove(doomed);
    session.close();
    expect(codes(await approve([doomed, kept]))).toEqual(['NOT_BEING_DELETED']);
    expect(codes(await approve([]))).toEqual(['INVALID_INPUT']);
    expect(codes(await approve([doomed], { expiresInSeconds: 5 }))).toEqual(['INVALID_INPUT']);
    const { client: operator } = await clientWith(api.hub, [{ role: 'OPERATOR', projectId: null }]);
    expect(codes(await approve([doomed], {}, operator))).toEqual(['FORBIDDEN']);
    const { client: stranger } = await clientWith(api.hub, []);
    expect(codes(await approve([doomed], {}, stranger))).toEqual(['NOT_FOUND']);
    await Promise.all([operator.close(), stranger.close()]);
    const approvals = (): Promise<unknown[]> =>
      api.hub.runtime.dataSource.query(`SELECT id FROM delete_approval WHERE $1 = ANY(hub_uids)`, [doomed.hubUid]);
    expect(codes(await approve([doomed], { dryRun: true }))).toEqual([]);
    expect(await approvals()).toEqual([]);
    const first = await approve([doomed], { idempotencyKey: 'once' });
    expect(await approve([doomed], { idempotencyKey: 'once' })).toEqual(first);
    expect(await approvals()).toHaveLength(1);
    const audited = await api.hub.runtime.dataSource.query<{ result: string }[]>(
      `SELECT result FROM audit WHERE action = 'approveDeletes' AND after::text LIKE '%' || $1 || '%' ORDER BY seq`,
      [doomed.hubUid],
    );
    expect(audited.map(({ result }) => result)).toEqual(['DRY_RUN', 'OK']);
  });

  it('whose approval expired before the agent came wait again; one that the agent has begun is finished', async () => {
    await makeMember();
    session.close();
    await session.waitForClose();
    const made = await make(2);
    for (const one of made) await remove(one);
    await approve(made, { expiresInSeconds: 60 });
    await api.hub.runtime.dataSource.query(`UPDATE delete_approval SET expires_at = now() - interval '1 second'`);
    const [silent, begun] = made as [Created, Created];
    await api.hub.runtime.dataSource.query(`UPDATE delivery SET state = 'WAITING' WHERE hub_uid = $1`, [begun.hubUid]);
    const { hubEpoch } = api.hub.runtime.identity;
    const { agent: back } = await openSession(api.hub, agent, { hubEpoch, appliedRevision: 2 });
    expect((await collect(back, 1)).map(({ hubUid }) => hubUid)).toEqual([begun.hubUid]);
    await vi.waitFor(
      async () =>
        expect(await readDelivery(api.hub, silent.hubUid)).toMatchObject({ state: 'WAITING', code: 'DELETE_BREAKER' }),
      WAIT,
    );
    back.close();
  });

  it('whose approval was given stays approved when it is let go in between and asked for again', async () => {
    await makeMember();
    const made = await make(4);
    for (const one of made) await remove(one);
    const last = made.at(-1)!;
    await approve([last]);
    const target = { id: last.id, expectedGeneration: null };
    expect(codes(await api.admin.mutate('forgetRedisCluster', target, FIELDS))).toEqual([]);
    expect(await remove(last)).toMatchObject({ redisCluster: { delivery: { state: 'PENDING' } } });
    session.close();
  });

  it('of several agents are approved by two people at once without one waiting for the other in a circle', async () => {
    await makeMember();
    const [agentA, first] = [memberClusterId, session];
    await makeMember();
    const agentB = memberClusterId;
    const made: Created[] = [];
    for (const place of [agentA, agentB, agentB, agentA])
      made.push(await createRedisCluster(api, { memberClusterId: place }));
    for (const one of made) await remove(one);
    const deadlocks = async (): Promise<number> => {
      const rows = await api.hub.runtime.dataSource.query<{ n: number }[]>(
        'SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0]?.n ?? -1;
    };
    const before = await deadlocks();
    for (let round = 0; round < 8; round += 1) {
      const answers = await Promise.all([approve(made.slice(0, 2)), approve(made.slice(2))]);
      expect(answers.flatMap(codes)).toEqual([]);
    }
    await api.hub.runtime.dataSource.query('SELECT pg_stat_force_next_flush()');
    expect(await deadlocks()).toBe(before);
    first.close();
    session.close();
  });

  it('of one object, asked for again and again, queue one item and raise one revision', async () => {
    await makeMember();
    const [one] = (await make(1)) as [Created];
    const revision = async (): Promise<unknown> =>
      api.hub.runtime.dataSource.query('SELECT revision FROM agent_spec_head WHERE agent_id = $1', [agent.agentId]);
    await remove(one);
    const after = await revision();
    for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 10 }, () => remove(one)));
    expect(await revision()).toEqual(after);
    const queued = await api.hub.runtime.dataSource.query<object[]>(
      `SELECT 1 FROM desired_change WHERE hub_uid = $1 AND op = 'TOMBSTONE'`,
      [one.hubUid],
    );
    expect(queued).toHaveLength(1);
  });
});
