import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdClaim } from '../../../test/hold-claim.ts';
import type { Json } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, makeProject, startApi, type Api } from '../../../test/api-fixture.ts';

describe('fleet health and events', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  it('counts by any dimensions, from the roll-up alone', async () => {
    for (let made = 0; made < 3; made += 1) await createRedisCluster(api);
    const query = `{ fleetHealth(groupBy: [MEMBER_CLUSTER, MODE, PHASE]) { total ready degraded unknown foldedAt
      groups { key total unknown } } all: fleetHealth { total groups { total } } }`;
    let health: Json | undefined;
    for (let tries = 0; tries < 200; tries += 1) {
      const answer = await api.admin.query(query);
      expect(answer.errors).toEqual([]);
      health = answer.data;
      // Two fields, two reads: a fold may lie between them.
      if (['all', 'fleetHealth'].every((field) => Number((answer.data[field] as Json)['total']) === 3)) break;
      await sleep(100);
    }
    expect(health).toMatchObject({
      fleetHealth: {
        total: 3,
        ready: 0,
        foldedAt: expect.any(String) as string,
        groups: [{ key: { MEMBER_CLUSTER: api.memberClusterId }, total: 3 }],
      },
      all: { total: 3, groups: [] },
    });
  });

  it('says when the counts are of before: none was folded for a minute, or those of a member cluster cannot be', async () => {
    const { dataSource } = api.hub.runtime;
    const held = await holdClaim(api.hub, 'health');
    const isStale = async (): Promise<unknown> => (await api.admin.query('{ fleetHealth { stale } }')).data;
    const expected = (stale: boolean): unknown => ({ fleetHealth: { stale } });
    await dataSource.query(
      'INSERT INTO health_rollup_head (folded_at) VALUES (now()) ON CONFLICT (one) DO UPDATE SET folded_at = now()',
    );
    expect(await isStale()).toEqual(expected(false));
    await dataSource.query(`UPDATE health_rollup_head SET folded_at = now() - interval '61 seconds'`);
    expect(await isStale()).toEqual(expected(true));
    await dataSource.query('UPDATE health_rollup_head SET folded_at = now()');
    await dataSource.query(`INSERT INTO rollup_apart VALUES ($1, now(), now() + interval '1 hour', 1, '54000')`, [
      randomUUID(),
    ]);
    expect(await isStale()).toEqual(expected(true));
    await dataSource.query('DELETE FROM rollup_apart');
    expect(await isStale()).toEqual(expected(false));
    await held.release();
  });

  it('answers groups by the page, with the totals of all, and only of projects that may be seen', async () => {
    const { dataSource } = api.hub.runtime;
    const held = await holdClaim(api.hub, 'health');
    const mine = await makeProject(api.hub, 'paged');
    const other = await makeProject(api.hub, 'hidden');
    const counts = async (projectId: string, region: string, total: number): Promise<void> => {
      await dataSource.query(
        `INSERT INTO member_cluster_rollup SELECT $1, $2, '8.0', 'Sentinel', 'ActionRequired', $3, $4, 0, $4, 0, 1`,
        [randomUUID(), projectId, region, total],
      );
      await dataSource.query(
        `INSERT INTO region_rollup SELECT $1, $2, '8.0', 'Sentinel', 'ActionRequired', $3, 0, $3, 0, 1`,
        [projectId, region, total],
      );
    };
    for (const region of ['', 'eu', 'us']) await counts(mine.id, region, 2);
    await counts(other.id, 'secret', 40);
    const { client } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: mine.id }]);
    const read = async (groupBy: string, args = ''): Promise<Json> => {
      const answer = await client.query(`{ fleetHealth(groupBy: [${groupBy}] ${args}) { total degraded late
        groups { key total } pageInfo { hasNextPage endCursor } } }`);
      expect(answer.errors).toEqual([]);
      return answer.data['fleetHealth'] as Json;
    };
    const first = await read('PHASE REGION', 'first: 2');
    const keyOf = (region: string | null): object => ({ key: { PHASE: 'ACTION_REQUIRED', REGION: region }, total: 2 });
    expect(first).toMatchObject({ total: 6, degraded: 6, late: 3, groups: [keyOf(null), keyOf('eu')] });
    const { endCursor } = first['pageInfo'] as Json;
    expect(await read('PHASE REGION', `first: 2, after: "${String(endCursor)}"`)).toMatchObject({
      total: 6,
      groups: [keyOf('us')],
      pageInfo: { hasNextPage: false },
    });
    const byMemberCluster = await read('PROJECT MEMBER_CLUSTER');
    expect((byMemberCluster['groups'] as unknown as Json[]).map((group) => group['total'])).toEqual([2, 2, 2]);
    const wrong = await client.query(`{ fleetHealth(groupBy: [REGION], after: "${String(endCursor)}") { total } }`);
    expect(wrong.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    await client.close();
    await held.release();
  });

  it('lists the events of an object, newest first', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    const { dataSource } = api.hub.runtime;
    for (const [minutesAgo, reason] of [
      [2, 'Created'],
      [1, 'FailoverDone'],
    ] as const) {
      const at = new Date(Date.now() - minutesAgo * 60_000);
      await dataSource.query(
        `INSERT INTO event (id, at, hub_uid, severity, reason, message, first_at, last_at, count)
         VALUES ($1, $2, $3, 'Warning', $4, 'a sentence', $2, $2, 2)`,
        [randomUUID(), at, hubUid, reason],
      );
    }
    const answer = await api.admin.query(
      'query E($id: ID!) { events(redisClusterId: $id, first: 10) { severity reason message count firstAt lastAt } }',
      { id },
    );
    expect(answer.data['events']).toMatchObject([
      { severity: 'WARNING', reason: 'FailoverDone', count: 2 },
      { reason: 'Created' },
    ]);
    expect((await api.admin.query('{ events(redisClusterId: "nonsense") { reason } }')).data).toEqual({ events: [] });
  });
});
