import type { Client } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, makeProject, startApi, type Api } from '../../../test/api-fixture.ts';
import { WAIT } from '../../../test/wait.ts';

interface Value {
  readonly total: number;
  readonly groups: readonly { readonly key: unknown; readonly total: number }[];
}

describe('the subscription of the fleet health', () => {
  let api: Api;
  const sockets: Client[] = [];
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(async () => {
    for (const socket of sockets) await socket.dispose();
    await api.close();
  });

  /** The values as they come. */
  function watch(client: ApiClient): { readonly values: Value[]; ended: unknown } {
    const seen: { readonly values: Value[]; ended: unknown } = { values: [], ended: undefined };
    const socket = client.socket();
    sockets.push(socket);
    socket.subscribe<{ fleetHealth: Value }>(
      { query: 'subscription { fleetHealth(groupBy: [MODE]) { total groups { key total } } }' },
      {
        next: ({ data }) => void (data && seen.values.push(data.fleetHealth)),
        error: (error) => (seen.ended = error),
        complete: () => (seen.ended = 'COMPLETE'),
      },
    );
    return seen;
  }
  const totals = (seen: { readonly values: readonly Value[] }): number[] => seen.values.map((value) => value.total);

  it('begins with the present counts, and tells only of those that the subscriber may see and that changed', async () => {
    const mine = await makeProject(api.hub, 'mine');
    const { client } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: mine.id }]);
    const [limited, everything] = [watch(client), watch(api.admin)];
    await expect.poll(() => [totals(limited), totals(everything)], WAIT).toEqual([[0], [0]]);
    await createRedisCluster(api);
    await expect.poll(() => totals(everything), WAIT).toEqual([0, 1]);
    await api.hub.runtime.dataSource.query('INSERT INTO rollup_mark (member_cluster_id) VALUES ($1)', [
      api.agent.memberClusterId,
    ]);
    await createRedisCluster(api, { project: 'mine' });
    await expect.poll(() => totals(limited), WAIT).toEqual([0, 1]);
    await expect.poll(() => totals(everything), WAIT).toEqual([0, 1, 2]);
    expect(limited.values.at(-1)?.groups).toEqual([{ key: { MODE: 'SENTINEL' }, total: 1 }]);
    await client.close();
  });

  it('ends when the token is revoked', async () => {
    const { client, tokenHash } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: null }]);
    const seen = watch(client);
    await expect.poll(() => seen.values.length, WAIT).toBe(1);
    await api.hub.runtime.dataSource.query('UPDATE api_token SET revoked_at = now() WHERE token_hash = $1', [
      tokenHash,
    ]);
    await expect.poll(() => JSON.stringify(seen.ended), WAIT).toContain('UNAUTHENTICATED');
    await client.close();
  });
});
