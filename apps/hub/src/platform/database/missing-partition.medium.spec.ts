/** The machine slept for longer than partitions are made ahead: there is none for the present time. */
import { digestOf, type StatusItem } from '#protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { newName, SPEC, startApi, type Api } from '../../../test/api-fixture.ts';
import { openSession, readDelivery, want } from '../../../test/link-fixture.ts';
import { WAIT } from '../../../test/wait.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const query = <T>(sql: string, parameters: unknown[] = []): Promise<T[]> =>
  api.hub.runtime.dataSource.query<T[]>(sql, parameters);
async function losePartitions(): Promise<void> {
  const rows = await query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent IN ('change_log'::regclass, 'event'::regclass)`,
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const { name } of rows) await query(`DROP TABLE ${name}`);
}

describe('without a partition for now', () => {
  it('an agent gets its session, and its acks, status and events are stored, none of them dropped', async () => {
    await losePartitions();
    const { agent } = await openSession(api.hub, api.agent);
    const wanted = await want(api.hub, api.agent, 'cart');
    const { revision } = await agent.next('Delta');
    await losePartitions();
    agent.send('DesiredAck', { revision, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
    await vi.waitFor(
      async () => expect(await readDelivery(api.hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
      WAIT,
    );

    await losePartitions();
    const named = { hubUid: wanted.hubUid, namespace: 'default', name: 'cart' };
    const rest = { uid: 'u', kind: 'RedisCluster', phase: 'Ready', conditions: [], pods: [], foreignFields: [] };
    const item: StatusItem = { ...named, observedHubGeneration: wanted.hubGeneration, ...rest };
    agent.send('StatusBatch', { counter: 0, items: [item] });
    expect(await agent.next('StatusAck')).toMatchObject({ counter: 0 });
    expect(await query('SELECT phase FROM resource_status WHERE hub_uid = $1', [wanted.hubUid])).toEqual([
      { phase: 'Ready' },
    ]);
    const lines = await query('SELECT 1 FROM change_log WHERE subject = $1', [wanted.hubUid]);
    expect(lines.length).toBeGreaterThan(0);

    await losePartitions();
    const at = '2026-11-30T10:00:00.000Z';
    const event = {
      ...named,
      severity: 'Warning',
      reason: 'Degraded',
      message: 'm',
      first: at,
      last: at,
      count: 1,
    } as const;
    agent.send('EventBatch', { counter: 0, items: [event] });
    expect(await agent.next('EventAck')).toMatchObject({ counter: 0 });
    expect(await query('SELECT reason FROM event WHERE hub_uid = $1', [wanted.hubUid])).toEqual([
      { reason: 'Degraded' },
    ]);
    expect(agent.closeCode).toBeUndefined();
    agent.close();
  });

  it('a mutation is carried out', async () => {
    await losePartitions();
    const input = { memberClusterId: api.memberClusterId, namespace: 'shop', name: newName(), spec: SPEC };
    const answer = await api.admin.mutate('createRedisCluster', input, 'redisCluster { name }');
    expect(answer).toMatchObject({ redisCluster: { name: input.name }, userErrors: [] });
  });
});
