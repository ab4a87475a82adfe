import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiClient, type Json } from '../../../test/api-client.ts';
import {
  clientWith,
  createRedisCluster,
  makeProject,
  reportStatus,
  SPEC,
  startApi,
  type Api,
} from '../../../test/api-fixture.ts';
import { loseSight } from '../agent-link/index.ts';
import { startTestHub, type TestHub } from '../../../test/start-test-hub.ts';
import { WAIT } from '../../../test/wait.ts';

const WATCH = `subscription S($id: ID!, $after: String) { redisCluster(id: $id, after: $after) {
  cursor kind redisCluster { generation status { phase } } } }`;

interface Value {
  readonly cursor: string;
  readonly kind: string;
  readonly redisCluster: { readonly generation: number; readonly status: { readonly phase: string } | null } | null;
}

/** The values of one subscription as they come, and how it ended. */
class Watched {
  readonly values: Value[] = [];
  ended: 'COMPLETE' | Json | undefined;
  readonly stop: () => void;

  constructor(client: Client, variables: Record<string, unknown>) {
    this.stop = client.subscribe<{ redisCluster: Value }>(
      { query: WATCH, variables },
      {
        next: ({ data }) => void (data && this.values.push(data.redisCluster)),
        error: (error) => (this.ended = error as Json),
        complete: () => (this.ended = 'COMPLETE'),
      },
    );
  }

  async until(condition: (watched: Watched) => boolean, timeoutMs = WAIT.timeout): Promise<void> {
    for (const end = Date.now() + timeoutMs; !condition(this); await sleep(10)) {
      if (Date.now() > end) throw new Error(`waited in vain; there is ${JSON.stringify([this.values, this.ended])}`);
    }
  }
}

describe('the subscription of a RedisCluster', () => {
  let api: Api;
  const clients: Client[] = [];
  const connect = (client: ApiClient): Client => {
    const socket = client.socket();
    clients.push(socket);
    return socket;
  };
  const watch = (variables: Record<string, unknown>, client = api.admin): Watched =>
    new Watched(connect(client), variables);
  const codeOf = (watched: Watched): unknown =>
    (watched.ended as unknown as { extensions: { code: string } }[])[0]?.extensions.code;

  beforeAll(async () => {
    api = await startApi();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
  });
  afterAll(() => api.close());

  it('tells of a verdict on the agent, which is a line of its member cluster', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    await reportStatus(api.hub, hubUid, { phase: 'Ready' });
    const watched = watch({ id });
    await watched.until(({ values }) => values.length === 1);
    await api.hub.runtime.dataSource.transaction((tx) => loseSight(tx, api.agent.agentId, Date.now()));
    await watched.until(({ values }) => values.length === 2);
    watched.stop();
  });

  it('begins with the present state, and tells of mutations and reports', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    const watched = watch({ id });
    await watched.until(({ values }) => values.length === 1);
    expect(watched.values[0]).toMatchObject({ kind: 'CHANGED', redisCluster: { generation: 1, status: null } });
    const input = { id, expectedGeneration: 1, spec: { ...SPEC, size: 5 } };
    await api.admin.mutate('updateRedisCluster', input, 'redisCluster { id }');
    await watched.until(({ values }) => values.at(-1)?.redisCluster?.generation === 2);
    await reportStatus(api.hub, hubUid, { phase: 'Ready' });
    await watched.until(({ values }) => values.at(-1)?.redisCluster?.status?.phase === 'READY');
    await reportStatus(api.hub, hubUid, { phase: 'Degraded' });
    await watched.until(({ values }) => values.at(-1)?.redisCluster?.status?.phase === 'DEGRADED');
  });

  it('goes on from a cursor: silent when nothing happened, the present state otherwise', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    await reportStatus(api.hub, hubUid, { phase: 'Creating' });
    const first = watch({ id });
    await first.until(({ values }) => values.length === 1);
    const after = first.values[0]?.cursor;
    first.stop();
    const silent = watch({ id, after });
    await sleep(1_500);
    expect(silent.values.filter((value) => value.redisCluster?.status?.phase !== 'CREATING')).toEqual([]);
    await reportStatus(api.hub, hubUid, { phase: 'Ready' });
    await silent.until(({ values }) => values.at(-1)?.redisCluster?.status?.phase === 'READY');
    const resumed = watch({ id, after });
    await resumed.until(({ values }) => values.length > 0);
    expect(resumed.values[0]).toMatchObject({ kind: 'CHANGED', redisCluster: { status: { phase: 'READY' } } });
  });

  it('says GAP for a cursor of another epoch, with the present state', async () => {
    const { id } = await createRedisCluster(api);
    const foreign = Buffer.from('01939c7a-0000-7000-8000-0123456789ab/700/1').toString('base64url');
    const watched = watch({ id, after: foreign });
    await watched.until(({ values }) => values.length > 0);
    expect(watched.values[0]).toMatchObject({ kind: 'GAP', redisCluster: { generation: 1 } });
    const broken = watch({ id, after: 'nonsense' });
    await broken.until(({ ended }) => ended !== undefined);
    expect(codeOf(broken)).toBe('BAD_USER_INPUT');
  });

  it('says GAP for a cursor older than the log', async () => {
    const { id } = await createRedisCluster(api);
    const old = Buffer.from(`${api.hub.runtime.identity.hubEpoch}/3/1`).toString('base64url');
    const watched = watch({ id, after: old });
    await watched.until(({ values }) => values.length > 0);
    expect(watched.values[0]).toMatchObject({ kind: 'GAP' });
  });

  it('says GAP and lets go of a consumer who missed too much', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    const watched = watch({ id });
    await watched.until(({ values }) => values.length === 1);
    await api.hub.runtime.dataSource.query(
      `INSERT INTO change_log (at, topic, subject, kind)
       SELECT now(), 'redisCluster', $1, 'CHANGED' FROM generate_series(1, 1500)`,
      [hubUid],
    );
    await watched.until(({ ended }) => ended === 'COMPLETE');
    expect(watched.values.at(-1)).toMatchObject({ kind: 'GAP', redisCluster: { generation: 1 } });
  });

  it('ends with DELETED when the object is gone', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    const watched = watch({ id });
    await watched.until(({ values }) => values.length === 1);
    await api.hub.runtime.dataSource.transaction(async (tx) => {
      await tx.query('DELETE FROM resource WHERE hub_uid = $1', [hubUid]);
      await tx.query(
        `INSERT INTO change_log (at, topic, subject, kind) VALUES (now(), 'redisCluster', $1, 'DELETED')`,
        [hubUid],
      );
    });
    await watched.until(({ ended }) => ended === 'COMPLETE');
    expect(watched.values.at(-1)).toMatchObject({ kind: 'DELETED', redisCluster: null });
  });

  it('says the same of an object that one may not see as of one that never was', async () => {
    const { id } = await createRedisCluster(api);
    const other = await makeProject(api.hub, 'elsewhere');
    const { client } = await clientWith(api.hub, [{ role: 'ADMIN', projectId: other.id }]);
    for (const target of [id, 'nonsense']) {
      const watched = watch({ id: target }, client);
      await watched.until(({ ended }) => ended === 'COMPLETE');
      expect(watched.values).toMatchObject([{ kind: 'DELETED', redisCluster: null }]);
    }
    await client.close();
  });

  it('ends when the token is revoked', async () => {
    const { id } = await createRedisCluster(api);
    const { client, tokenHash } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: null }]);
    const watched = watch({ id }, client);
    await watched.until(({ values }) => values.length === 1);
    await api.hub.runtime.dataSource.query('UPDATE api_token SET revoked_at = now() WHERE token_hash = $1', [
      tokenHash,
    ]);
    await watched.until(({ ended }) => ended !== undefined);
    expect(codeOf(watched)).toBe('UNAUTHENTICATED');
    await client.close();
  });

  it('is refused without a valid token, and without a valid document', async () => {
    const { id } = await createRedisCluster(api);
    const nobody = watch({ id }, new ApiClient(api.hub, 'a-token-that-nobody-has'));
    await nobody.until(({ ended }) => ended !== undefined);
    expect(nobody.ended).toMatchObject({ code: 4403 });
    const errors = await new Promise<unknown>((resolve) => {
      connect(api.admin).subscribe(
        { query: 'subscription { nope }' },
        { next: resolve, error: resolve, complete: () => resolve('complete') },
      );
    });
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  });

  it('is served by any replica, whichever took the mutation', async () => {
    const replica: TestHub = await startTestHub(api.hub.runtime.databaseUrl, { like: api.hub });
    const admin = await ApiClient.admin(replica);
    const { id } = await createRedisCluster(api);
    const watched = watch({ id }, admin);
    await watched.until(({ values }) => values.length === 1);
    const input = { id, expectedGeneration: 1, spec: { ...SPEC, size: 5 } };
    await api.admin.mutate('updateRedisCluster', input, 'redisCluster { id }');
    await watched.until(({ values }) => values.at(-1)?.redisCluster?.generation === 2);
    watched.stop();
    await admin.close();
    await replica.close();
  });

  it('is refused beyond a hundred on one WebSocket, and told why', async () => {
    const { id } = await createRedisCluster(api);
    const socket = connect(api.admin);
    const query = 'subscription S($id: ID!) { redisCluster(id: $id) { cursor } }';
    const begun = new Set<number>();
    const refused = new Promise<unknown>((resolve) => {
      for (let count = 0; count <= 100; count += 1) {
        socket.subscribe(
          { query, variables: { id } },
          { next: () => begun.add(count), error: resolve, complete: () => undefined },
        );
      }
    });
    expect(await refused).toMatchObject([{ extensions: { code: 'TOO_MANY_SUBSCRIPTIONS' } }]);
    await vi.waitFor(() => expect(begun.size).toBe(100), WAIT);
    await socket.dispose();
  });

  it('costs nothing once its consumer has left', async () => {
    const { id } = await createRedisCluster(api);
    const watched = watch({ id });
    await watched.until(({ values }) => values.length === 1);
    watched.stop();
    const { dataSource } = api.hub.runtime;
    const statements: string[] = [];
    const original = dataSource.query.bind(dataSource);
    dataSource.query = ((sql: string, parameters?: unknown[]) => {
      statements.push(sql);
      return original(sql, parameters);
    }) as typeof dataSource.query;
    // The server hears of it a moment later. Then nothing is asked for longer than the poll of a watch.
    const askedMeanwhile = async (): Promise<string[]> => {
      statements.length = 0;
      await sleep(2_500);
      return statements.filter((sql) => sql.includes('FROM change_log'));
    };
    await vi.waitFor(async () => expect(await askedMeanwhile()).toEqual([]), { timeout: 20_000 });
    dataSource.query = original;
  });
});
