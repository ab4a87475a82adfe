import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../test/api-client.ts';
import { createRedisCluster, startApi, type Api } from '../../../test/api-fixture.ts';

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
    for (let tries = 0; tries < 50; tries += 1) {
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
