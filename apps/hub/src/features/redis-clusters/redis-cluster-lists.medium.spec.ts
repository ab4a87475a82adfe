import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient, Json } from '../../../test/api-client.ts';
import { countStatements } from '../../../test/count-statements.ts';
import {
  answerDelivery,
  clientWith,
  createRedisCluster,
  makeProject,
  reportStatus,
  startApi,
  type Api,
  type Created,
} from '../../../test/api-fixture.ts';
import { WAIT } from '../../../test/wait.ts';

const LIST = `query L($first: Int, $after: String, $filter: RedisClusterFilter) {
  redisClusters(first: $first, after: $after, filter: $filter) {
    nodes { id name delivery { sync } status { phase } } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor } totalCount } }`;

describe('lists of RedisClusters', () => {
  let api: Api;
  let made: Created[];
  let secret: Created;
  let secretProject: { readonly id: string; readonly globalId: string };

  beforeAll(async () => {
    api = await startApi();
    made = [];
    for (let index = 0; index < 5; index += 1) made.push(await createRedisCluster(api));
    secretProject = await makeProject(api.hub, 'secret');
    secret = await createRedisCluster(api, { project: 'secret', namespace: 'vault' });
    const [first, second, third] = made as [Created, Created, Created];
    await answerDelivery(api.hub, first.hubUid);
    await reportStatus(api.hub, first.hubUid, { phase: 'Degraded' });
    await answerDelivery(api.hub, second.hubUid);
    await reportStatus(api.hub, second.hubUid, {
      foreignFields: [{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' }],
    });
    await answerDelivery(api.hub, third.hubUid);
    await reportStatus(api.hub, third.hubUid, {
      foreignFields: [{ path: 'spec.size', manager: 'argo', liveValue: '3' }],
    });
  });
  afterAll(() => api.close());

  const list = async (client: ApiClient, variables: object): Promise<Json> => {
    const answer = await client.query(LIST, variables);
    if (answer.errors.length > 0) throw new Error(answer.text);
    return answer.data['redisClusters'] as Json;
  };
  const names = (page: Json): string[] => (page['nodes'] as unknown as { name: string }[]).map((node) => node.name);
  const filtered = async (filter: object): Promise<string[]> => names(await list(api.admin, { filter }));
  const nameOf = (index: number): string => made[index]?.name ?? '';
  /** How many of the statements of one request match. */
  const countReads = async (query: string): Promise<(text: RegExp) => number> => {
    const counts = await countStatements(async () => expect((await api.admin.query(query)).errors).toEqual([]));
    return (text) => [...counts].reduce((sum, [sql, count]) => (text.test(sql) ? sum + count : sum), 0);
  };

  it('come page by page, each object once, while others come and go', async () => {
    const seen: string[] = [];
    let after: unknown = null;
    for (let page = 0; page < 10; page += 1) {
      const answer: Json = await list(api.admin, { first: 2, after, filter: { namespace: 'shop' } });
      seen.push(...names(answer));
      if (page === 0) {
        await api.hub.runtime.dataSource.query('DELETE FROM resource WHERE hub_uid = $1', [made[0]?.hubUid]);
        made.push(await createRedisCluster(api));
      }
      const info = answer['pageInfo'] as Json;
      expect(info).toMatchObject({ hasPreviousPage: page > 0 });
      if (!(info['hasNextPage'] as unknown as boolean)) break;
      after = info['endCursor'];
    }
    expect(seen).toEqual(made.map((each) => each.name));
    made.splice(0, 1, await createRedisCluster(api));
    await answerDelivery(api.hub, made[0]?.hubUid ?? '');
    await reportStatus(api.hub, made[0]?.hubUid ?? '', { phase: 'Degraded' });
  });

  it('count only what the filter lets through', async () => {
    expect(await list(api.admin, { first: 1, filter: { namespace: 'vault' } })).toMatchObject({ totalCount: 1 });
    expect(await list(api.admin, { filter: { name: 'nobody' } })).toMatchObject({ totalCount: 0, nodes: [] });
  });

  it('are narrowed by every field of the filter', async () => {
    expect(await filtered({ name: nameOf(1) })).toEqual([nameOf(1)]);
    expect(await filtered({ phase: 'DEGRADED' })).toEqual([nameOf(0)]);
    expect(await filtered({ sync: 'DRIFTED' })).toEqual([nameOf(1)]);
    expect((await filtered({ sync: 'IN_SYNC' })).sort()).toEqual([nameOf(0), nameOf(2)].sort());
    expect(await filtered({ sync: 'DELETED_LOCALLY' })).toEqual([]);
    expect(await filtered({ mode: 'STANDALONE' })).toEqual([]);
    expect(await filtered({ projectId: secretProject.globalId })).toEqual([secret.name]);
    expect(await filtered({ memberClusterId: api.memberClusterId, mode: 'SENTINEL', namespace: 'vault' })).toEqual([
      secret.name,
    ]);
    expect(await filtered({ memberClusterId: 'nonsense' })).toEqual([]);
    expect(await filtered({ freshness: 'LATE' })).toEqual([]);
  });

  it('count by sync state as they list by it', async () => {
    expect(await list(api.admin, { first: 1, filter: { sync: 'IN_SYNC' } })).toMatchObject({
      totalCount: 2,
      pageInfo: { hasNextPage: true },
    });
    const states = ['IN_SYNC', 'PENDING', 'DRIFTED', 'DELETED_LOCALLY', 'REJECTED', 'CONFLICT', 'WAITING', 'DELETING'];
    const counts = new Map<string, number>();
    for (const sync of states) {
      const page = await list(api.admin, { filter: { sync } });
      counts.set(sync, Number(page['totalCount']));
      expect({ sync, count: names(page).length }).toEqual({ sync, count: counts.get(sync) });
    }
    const all = Number((await list(api.admin, {}))['totalCount']);
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(all);
  });

  it('find what few agents run by these agents, and what many run along the list', async () => {
    const { dataSource } = api.hub.runtime;
    const { agentId } = api.agent;
    const everything = Number((await list(api.admin, {}))['totalCount']);
    expect(await list(api.admin, { filter: { freshness: 'UNKNOWN' } })).toMatchObject({ totalCount: everything });
    await dataSource.query(
      `INSERT INTO agent_seen (agent_id, seen_at, verdict) VALUES ($1, now() + interval '1 hour', 'FRESH')`,
      [agentId],
    );
    expect(await list(api.admin, { filter: { freshness: 'FRESH' } })).toMatchObject({ totalCount: everything });
    expect(await list(api.admin, { filter: { freshness: 'UNKNOWN' } })).toMatchObject({ totalCount: 0 });
    await dataSource.query('DELETE FROM agent_seen WHERE agent_id = $1', [agentId]);
    await dataSource.query(
      `INSERT INTO agent (id, member_cluster_id, scope_kind, scope_namespace, state, created_at)
       SELECT gen_random_uuid(), member_cluster_id, 'NAMESPACE', 'ns-' || n, 'PENDING_TOKEN', now()
       FROM agent, generate_series(1, 600) AS n WHERE id = $1`,
      [agentId],
    );
    expect(await list(api.admin, { filter: { freshness: 'UNKNOWN' } })).toMatchObject({ totalCount: everything });
    await dataSource.query(`DELETE FROM agent WHERE state = 'PENDING_TOKEN' AND scope_kind = 'NAMESPACE'`);
  });

  it('take a status that could not be stored for one of before, in the status and in the filter', async () => {
    const { dataSource } = api.hub.runtime;
    const { hubUid, name } = await createRedisCluster(api);
    await reportStatus(api.hub, hubUid, { phase: 'Ready' });
    await dataSource.query(
      `INSERT INTO agent_seen (agent_id, seen_at, verdict) VALUES ($1, now() + interval '1 hour', 'FRESH')`,
      [api.agent.agentId],
    );
    const read = async (): Promise<unknown> => {
      const page = await api.admin.query(
        `query Q($filter: RedisClusterFilter) { redisClusters(filter: $filter) { nodes { status { freshness lastKnown } } } }`,
        { filter: { name } },
      );
      return (page.data['redisClusters'] as Json)['nodes'];
    };
    expect(await read()).toMatchObject([{ status: { freshness: 'FRESH' } }]);
    await dataSource.query(`INSERT INTO status_unstored VALUES ($1, now(), '54000')`, [hubUid]);
    expect(await read()).toEqual([{ status: { freshness: 'LATE', lastKnown: true } }]);
    expect(await filtered({ freshness: 'LATE' })).toEqual([name]);
    expect(await filtered({ freshness: 'FRESH' })).not.toContain(name);
    await dataSource.query('DELETE FROM status_unstored');
    expect(await filtered({ freshness: 'LATE' })).toEqual([]);
    await dataSource.query('DELETE FROM agent_seen WHERE agent_id = $1', [api.agent.agentId]);
    await dataSource.query('DELETE FROM resource WHERE hub_uid = $1', [hubUid]);
  });

  it('refuse a cursor of another list', async () => {
    const answer = await api.admin.query(LIST, { after: 'bm90IGEgY3Vyc29y' });
    expect(answer.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('answer with one query for each kind of thing, however long they are', async () => {
    const of = await countReads(
      '{ redisClusters { nodes { id status { phase } project { name } memberCluster { name freshness agents { id } } } } }',
    );
    expect(of(/^SELECT r\.hub_uid\s+FROM resource r/)).toBe(1);
    expect(of(/r\.hub_generation, r\.spec/)).toBe(1);
    expect(of(/FROM resource_status s JOIN/)).toBe(1);
    expect(of(/FROM project/)).toBe(1);
    // Workers of this hub read the table too, for other columns.
    expect(of(/fingerprint, state, created_at FROM member_cluster/)).toBe(1);
    expect(of(/count\(\*\)\s+FROM resource/)).toBe(0);
  });

  it('read the documents of a status only for those who ask for one', async () => {
    const summaries = /s\.ready_pods(?!.*s\.pods)/s;
    const documents = /s\.pods, s\.conditions/;
    let of = await countReads('{ redisClusters { nodes { status { phase readyPods ageSeconds } } } }');
    expect([of(summaries), of(documents)]).toEqual([1, 0]);
    of = await countReads(
      '{ redisClusters { nodes { status { phase ...More } } } } fragment More on RedisClusterStatus { pods { name } }',
    );
    expect([of(summaries), of(documents)]).toEqual([0, 1]);
    of = await countReads('{ redisClusters { nodes { a: status { phase } b: status { details } } } }');
    expect([of(summaries), of(documents)]).toEqual([1, 1]);
  });

  it('are read again when a row goes between the keys of a page and its rows', async () => {
    const gone = await createRedisCluster(api);
    const last = await createRedisCluster(api);
    const total = Number((await list(api.admin, {}))['totalCount']);
    const dataSource = api.hub.runtime.pools.api;
    const read = dataSource.query.bind(dataSource);
    let pages = 0;
    dataSource.query = (async (sql: string, parameters?: unknown[]) => {
      const rows: unknown = await read(sql, parameters);
      if (/^SELECT r\.hub_uid\s+FROM resource r/.test(sql)) {
        if (pages === 0) await read('DELETE FROM resource WHERE hub_uid = $1', [gone.hubUid]);
        pages += 1;
      }
      return rows;
    }) as typeof dataSource.query;
    const page = await api.admin
      .query('query Q($first: Int) { redisClusters(first: $first) { nodes { name } pageInfo { hasNextPage } } }', {
        first: total - 2,
      })
      .finally(() => (dataSource.query = read));
    expect(pages).toBe(2);
    expect(names(page.data['redisClusters'] as Json)).not.toContain(gone.name);
    // Its keys were one more than the page: short of one row, it would have passed for the last page.
    expect(page.data).toMatchObject({ redisClusters: { pageInfo: { hasNextPage: true } } });
    expect(await filtered({ name: last.name })).toEqual([last.name]);
  });

  describe('to somebody of one project', () => {
    let client: ApiClient;
    beforeAll(async () => {
      ({ client } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: secretProject.id }]));
    });
    afterAll(() => client.close());

    it('show that project only, in rows, counts, ids and roll-ups', async () => {
      const folded = async (): Promise<Json> => (await client.query('{ fleetHealth { total } }')).data;
      await expect.poll(folded, WAIT).toEqual({ fleetHealth: { total: 1 } });
      expect(await list(client, {})).toMatchObject({ totalCount: 1, nodes: [{ name: secret.name }] });
      expect(await list(client, { filter: { sync: 'DRIFTED' } })).toMatchObject({ totalCount: 0, nodes: [] });
      const foreign = made[1]?.id ?? '';
      const answer = await client.query(
        `query Q($id: ID!) { redisCluster(id: $id) { id } node(id: $id) { id } nodes(ids: [$id]) { id }
           events(redisClusterId: $id) { id } projects { name } fleetHealth { total } audit { nodes { id } } }`,
        { id: foreign },
      );
      expect(answer.data).toEqual({
        redisCluster: null,
        node: null,
        nodes: [null],
        events: [],
        projects: [{ name: 'secret' }],
        fleetHealth: { total: 1 },
        audit: { nodes: [] },
      });
    });

    it('hide how many changes an agent was sent for all projects together, and its sessions', async () => {
      const { dataSource } = api.hub.runtime;
      await dataSource.query(
        `UPDATE agent_session SET session_no = 7, replica = 'hub-1', state = 'CONNECTED' WHERE agent_id = $1`,
        [api.agent.agentId],
      );
      const text =
        'query Q($id: ID!) { memberCluster(id: $id) { agents { state desiredRevision appliedRevision sessionNo replica } } }';
      const agentFor = async (reader: ApiClient): Promise<Json | undefined> => {
        const { data } = await reader.query(text, { id: api.memberClusterId });
        return (data['memberCluster'] as Json)['agents']?.[0];
      };
      const hidden = { state: 'ACTIVE', desiredRevision: 0, appliedRevision: 0, sessionNo: 0, replica: null };
      expect(await agentFor(client)).toEqual(hidden);
      const shown = await agentFor(api.admin);
      expect(shown).toMatchObject({ state: 'ACTIVE', sessionNo: 7, replica: 'hub-1' });
      expect(Number(shown?.['desiredRevision'])).toBeGreaterThan(0);
    });

    it('hide what no project owns', async () => {
      const answer = await client.query('query Q($id: ID!) { localObjects(memberClusterId: $id) { name } }', {
        id: api.memberClusterId,
      });
      expect(answer.errors[0]?.extensions.code).toBe('FORBIDDEN');
    });
  });

  it('are empty for somebody without any role', async () => {
    const { client } = await clientWith(api.hub, []);
    expect(await list(client, {})).toMatchObject({ totalCount: 0, nodes: [] });
    const answer = await client.query('{ memberClusters { nodes { id } totalCount } projects { id } }');
    expect(answer.data).toEqual({ memberClusters: { nodes: [], totalCount: 0 }, projects: [] });
    await client.close();
  });

  it('carry status with its age, and words of a newer agent without failing', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    await reportStatus(api.hub, hubUid, {
      phase: 'Pondering',
      endpoints: { primary: 'cache.shop.svc', masterName: 'cache' },
      pods: [{ name: 'cache-0', role: 'arbiter', ready: true, link: 'up' }],
      details: { capabilities: ['switchover'] },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'R',
          message: 'm',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
    const answer = await api.admin.query(
      `query Q($id: ID!) { redisCluster(id: $id) { status { phase mode observedGeneration endpoints { primary replicas masterName }
         pods { name role link node } conditions { type status lastTransitionTime } details freshness lastKnown ageSeconds reportedAt } } }`,
      { id },
    );
    expect(answer.data).toMatchObject({
      redisCluster: {
        status: {
          phase: null,
          mode: 'SENTINEL',
          observedGeneration: 1,
          endpoints: { primary: 'cache.shop.svc', replicas: null, masterName: 'cache' },
          pods: [{ name: 'cache-0', role: 'UNKNOWN', link: 'UP', node: null }],
          conditions: [{ type: 'Ready', status: 'TRUE', lastTransitionTime: '2026-01-01T00:00:00.000Z' }],
          details: { capabilities: ['switchover'] },
          lastKnown: expect.any(Boolean) as boolean,
        },
      },
    });
    const status = (answer.data['redisCluster'] as Json)['status'] as unknown as { ageSeconds: number };
    expect(status.ageSeconds).toBeLessThan(30);
  });

  it('shows numbers of an agent that no Int holds, and the rest of the list with them', async () => {
    const { id, hubUid } = await createRedisCluster(api);
    const { dataSource } = api.hub.runtime;
    const large = 2 ** 40;
    await answerDelivery(api.hub, hubUid);
    await reportStatus(api.hub, hubUid, {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'R',
          message: 'm',
          observedGeneration: large,
          lastTransitionTime: 'x',
        },
      ],
    });
    await dataSource.query(
      'UPDATE resource_status SET observed_hub_generation = $2, primary_term = $2 WHERE hub_uid = $1',
      [hubUid, large],
    );
    await dataSource.query('UPDATE resource SET hub_generation = $2 WHERE hub_uid = $1', [hubUid, large]);
    await dataSource.query('UPDATE delivery SET hub_generation = $2, applied_generation = $2 WHERE hub_uid = $1', [
      hubUid,
      large,
    ]);
    const text = `query Q($id: ID!) { redisCluster(id: $id) { generation delivery { generation appliedGeneration }
       status { observedGeneration primaryTerm conditions { observedGeneration } }
       memberCluster { agents { sessionNo appliedRevision desiredRevision } } } }`;
    // The third time it is the compiled form that answers.
    for (let run = 0; run < 3; run += 1) {
      expect(await api.admin.query(text, { id })).toMatchObject({
        errors: [],
        data: {
          redisCluster: {
            generation: large,
            delivery: { generation: large, appliedGeneration: large },
            status: { observedGeneration: large, primaryTerm: large, conditions: [{ observedGeneration: large }] },
          },
        },
      });
    }
  });
});
