import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, type Json } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, newName, SPEC, startApi, type Api } from '../../../test/api-fixture.ts';

interface AuditRow {
  readonly action: string;
  readonly target: string | null;
  readonly principal: string;
  readonly result: string;
  readonly code: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly project_id: string | null;
  readonly request_id: string | null;
}

describe('every mutation', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  const FIELDS = 'redisCluster { id hubUid name generation }';
  const create = (input: object): Promise<Json> =>
    api.admin.mutate(
      'createRedisCluster',
      { memberClusterId: api.memberClusterId, namespace: 'shop', name: newName(), spec: SPEC, ...input },
      FIELDS,
    );
  const rows = (sql: string, parameters: unknown[] = []): Promise<AuditRow[]> =>
    api.hub.runtime.dataSource.query(sql, parameters);
  /** The audit rows that an action adds. */
  const audited = async (action: () => Promise<unknown>): Promise<AuditRow[]> => {
    const [last] = (await rows('SELECT coalesce(max(seq), 0) AS seq FROM audit')) as unknown as { seq: number }[];
    await action();
    return rows('SELECT * FROM audit WHERE seq > $1 ORDER BY seq', [last?.seq]);
  };
  const codes = (payload: Json): unknown[] =>
    (payload['userErrors'] as unknown as { code: string }[]).map((error) => error.code);

  describe('is audited by exactly one row', () => {
    it('when it is done: who, what, before and after', async () => {
      const made = await createRedisCluster(api);
      const added = await audited(() =>
        api.admin.mutate(
          'updateRedisCluster',
          { id: made.id, expectedGeneration: 1, spec: { ...SPEC, size: 5 } },
          FIELDS,
        ),
      );
      expect(added).toMatchObject([
        {
          action: 'updateRedisCluster',
          target: made.id,
          principal: 'admin',
          result: 'OK',
          code: null,
          before: { generation: 1, spec: { size: 3 } },
          after: { generation: 2, spec: { size: 5 } },
          project_id: expect.any(String) as string,
          request_id: expect.any(String) as string,
        },
      ]);
    });

    it('when it is refused, with the code and nothing of what was sent', async () => {
      const added = await audited(() => create({ spec: { ...SPEC, config: { requirepass: 'canary' } } }));
      expect(added).toMatchObject([
        { action: 'createRedisCluster', result: 'REFUSED', code: 'INVALID_INPUT', after: null },
      ]);
      expect(JSON.stringify(added)).not.toContain('canary');
    });

    it('when somebody had no right to it', async () => {
      const { client } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: null }]);
      const { id } = await createRedisCluster(api);
      const added = await audited(() => client.mutate('deleteRedisCluster', { id, expectedGeneration: 1 }, FIELDS));
      expect(added).toMatchObject([{ action: 'deleteRedisCluster', target: id, result: 'REFUSED', code: 'FORBIDDEN' }]);
      await client.close();
    });

    it('when it was a dry run', async () => {
      expect(await audited(() => create({ dryRun: true }))).toMatchObject([
        { action: 'createRedisCluster', result: 'DRY_RUN' },
      ]);
    });

    it('when it failed, and then nothing of it is kept', async () => {
      const { dataSource } = api.hub.runtime;
      await dataSource.query('ALTER TABLE change_log ADD CONSTRAINT broken CHECK (kind = $$NEVER$$) NOT VALID');
      const name = newName();
      const added = await audited(() => create({ name }).catch(() => undefined));
      await dataSource.query('ALTER TABLE change_log DROP CONSTRAINT broken');
      expect(added).toMatchObject([{ action: 'createRedisCluster', result: 'FAILED', code: 'INTERNAL' }]);
      expect(await rows('SELECT 1 FROM resource WHERE name = $1', [name])).toEqual([]);
    });

    it('for each mutation of the schema', async () => {
      const answer = await api.admin.query(
        '{ __schema { mutationType { fields { name args { type { ofType { name } } } } } } }',
      );
      const { fields } = (answer.data['__schema'] as Json)['mutationType'] as unknown as { fields: { name: string }[] };
      const input: Record<string, object> = {
        createRedisCluster: { memberClusterId: 'x', namespace: 'a', name: 'a', spec: SPEC },
        updateRedisCluster: { id: 'x', spec: SPEC },
        enrolMemberCluster: { name: 'NOT A NAME' },
        approveAgent: { agentId: 'x' },
        revokeAgent: { agentId: 'x' },
        forgetMemberCluster: { memberClusterId: 'x' },
        replaceMemberCluster: { memberClusterId: 'x', agentId: 'x' },
        approveDeletes: { redisClusterIds: ['x'] },
      };
      for (const { name } of fields) {
        const added = await audited(() => api.admin.mutate(name, input[name] ?? { id: 'x' }, ''));
        expect(added, name).toMatchObject([{ action: name, result: 'REFUSED' }]);
      }
    });
  });

  it('shows its audit to administrators, newest first, page by page', async () => {
    await create({});
    const answer = await api.admin.query(
      '{ audit(first: 2) { nodes { sequence action result principal target requestId } pageInfo { hasNextPage endCursor } } }',
    );
    const { nodes, pageInfo } = answer.data['audit'] as unknown as {
      nodes: { sequence: number }[];
      pageInfo: { endCursor: string };
    };
    expect(nodes[0]).toMatchObject({ action: 'createRedisCluster', result: 'OK', principal: 'admin' });
    const next = await api.admin.query(
      'query A($after: String) { audit(first: 2, after: $after) { nodes { sequence } } }',
      {
        after: pageInfo.endCursor,
      },
    );
    expect((next.data['audit'] as Json)['nodes']).toMatchObject([{ sequence: (nodes[1]?.sequence ?? 0) - 1 }, {}]);
    const { client } = await clientWith(api.hub, [{ role: 'OPERATOR', projectId: null }]);
    expect((await client.query('{ audit { nodes { action } } }')).data).toEqual({ audit: { nodes: [] } });
    await client.close();
  });

  describe('with an idempotency key', () => {
    it('is done once, however often and however fast it is sent', async () => {
      const input = { name: newName(), idempotencyKey: 'create-once' };
      const answers = await Promise.all([create(input), create(input), create(input)]);
      answers.push(await create(input));
      const ids = answers.map((answer) => (answer['redisCluster'] as Json)['id']);
      expect(new Set(ids).size).toBe(1);
      expect(answers.flatMap(codes)).toEqual([]);
      expect(await rows('SELECT 1 FROM resource WHERE name = $1', [input.name])).toHaveLength(1);
    });

    it('is refused when the key was used for another request', async () => {
      const name = newName();
      await create({ name, idempotencyKey: 'key-a' });
      expect(codes(await create({ name: newName(), idempotencyKey: 'key-a' }))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
      expect(codes(await create({ name, idempotencyKey: 'key-a', adopt: true }))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
      expect(codes(await create({ name, idempotencyKey: 'key-a', adopt: false }))).toEqual([]);
    });

    it('may use a key that somebody else used', async () => {
      const { client } = await clientWith(api.hub, [{ role: 'ADMIN', projectId: null }]);
      await create({ idempotencyKey: 'key-b' });
      const input = {
        memberClusterId: api.memberClusterId,
        namespace: 'shop',
        name: newName(),
        spec: SPEC,
        idempotencyKey: 'key-b',
      };
      expect(codes(await client.mutate('createRedisCluster', input, FIELDS))).toEqual([]);
      await client.close();
    });

    it('may be sent again after a refusal, corrected', async () => {
      expect(codes(await create({ name: 'WRONG', idempotencyKey: 'key-c' }))).toEqual(['INVALID_INPUT']);
      expect(codes(await create({ idempotencyKey: 'key-c' }))).toEqual([]);
    });

    it('is forgotten after 24 hours', async () => {
      await create({ idempotencyKey: 'key-d' });
      await rows(`UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'key-d'`);
      expect(codes(await create({ idempotencyKey: 'key-d' }))).toEqual([]);
    });

    it('repeats an update without making a second generation', async () => {
      const { id } = await createRedisCluster(api);
      const input = { id, expectedGeneration: 1, spec: { ...SPEC, size: 5 }, idempotencyKey: 'key-e' };
      const first = await api.admin.mutate('updateRedisCluster', input, FIELDS);
      expect(await api.admin.mutate('updateRedisCluster', input, FIELDS)).toEqual(first);
    });

    describe('asks for the rights again before it answers again', () => {
      /** A principal as it is known under this token, which nobody has looked up yet. */
      async function clientOf(principal: string, role: string | null): Promise<ApiClient> {
        await rows('DELETE FROM role_binding WHERE principal_id = $1', [principal]);
        if (role !== null) {
          const binding = 'INSERT INTO role_binding (id, principal_id, role) VALUES (gen_random_uuid(), $1, $2)';
          await rows(binding, [principal, role]);
        }
        const token = randomUUID();
        const hash = createHash('sha256').update(token).digest();
        const insert = `INSERT INTO api_token (id, principal_id, token_hash, created_at) VALUES (gen_random_uuid(), $1, $2, now())`;
        await rows(insert, [principal, hash]);
        return new ApiClient(api.hub, token);
      }
      async function makePrincipal(): Promise<string> {
        const { client, tokenHash } = await clientWith(api.hub, []);
        await client.close();
        const found = await rows('SELECT principal_id AS target FROM api_token WHERE token_hash = $1', [tokenHash]);
        return String(found[0]?.target);
      }
      /** Repeated with the role it had, with a lesser one, with none. */
      async function repeat(name: string, input: object, fields: string, role: 'ADMIN' | 'OPERATOR'): Promise<Json[]> {
        const principal = await makePrincipal();
        const answers: Json[] = [];
        for (const next of [role, role, role === 'ADMIN' ? 'OPERATOR' : 'VIEWER', null]) {
          const client = await clientOf(principal, next);
          answers.push(await client.mutate(name, input, fields));
          await client.close();
        }
        return answers;
      }

      it('of createRedisCluster', async () => {
        const input = { memberClusterId: api.memberClusterId, namespace: 'shop', name: newName(), spec: SPEC };
        const answers = await repeat('createRedisCluster', { ...input, idempotencyKey: 'again' }, FIELDS, 'OPERATOR');
        expect(answers.map(codes)).toEqual([[], [], ['FORBIDDEN'], ['NOT_FOUND']]);
        expect(answers.slice(2).map((answer) => answer['redisCluster'])).toEqual([null, null]);
      });

      it('of each mutation of an object that is there', async () => {
        const { id, hubUid } = await createRedisCluster(api);
        const update = { id, expectedGeneration: 1, spec: { ...SPEC, size: 5 }, idempotencyKey: 'again' };
        const updated = await repeat('updateRedisCluster', update, `${FIELDS} changedFields`, 'OPERATOR');
        expect(updated.map(codes)).toEqual([[], [], ['FORBIDDEN'], ['NOT_FOUND']]);
        expect(updated.map((answer) => (answer['changedFields'] as unknown as unknown[]).length)).toEqual([1, 1, 0, 0]);
        await rows(`UPDATE resource SET deletion = 'DELETE' WHERE hub_uid = $1`, [hubUid]);
        const approve = { redisClusterIds: [id], idempotencyKey: 'again' };
        const approved = await repeat('approveDeletes', approve, 'approvalId redisClusters { id }', 'ADMIN');
        expect(approved.map(codes)).toEqual([[], [], ['FORBIDDEN'], ['NOT_FOUND']]);
        const remove = { id, expectedGeneration: null, idempotencyKey: 'again' };
        const removed = await repeat('deleteRedisCluster', remove, FIELDS, 'OPERATOR');
        expect(removed.map(codes)).toEqual([[], [], ['FORBIDDEN'], ['NOT_FOUND']]);
      });

      it('of an object that is gone', async () => {
        const { id, hubUid } = await createRedisCluster(api);
        const input = { id, expectedGeneration: 1, spec: { ...SPEC, size: 5 }, idempotencyKey: 'again' };
        const principal = await makePrincipal();
        const client = await clientOf(principal, 'OPERATOR');
        await client.mutate('updateRedisCluster', input, FIELDS);
        await rows('UPDATE resource SET deleted_at = now() WHERE hub_uid = $1', [hubUid]);
        expect(await client.mutate('updateRedisCluster', input, FIELDS)).toEqual({
          redisCluster: null,
          userErrors: [],
        });
        const without = await clientOf(principal, null);
        expect(codes(await without.mutate('updateRedisCluster', input, FIELDS))).toEqual(['NOT_FOUND']);
        await Promise.all([client.close(), without.close()]);
      });

      it('of enrolMemberCluster, which gives no token to who may not enrol any more', async () => {
        const input = { name: newName(), idempotencyKey: 'again' };
        const answers = await repeat('enrolMemberCluster', input, 'token agent { id }', 'ADMIN');
        expect(answers.map(codes)).toEqual([[], [], ['FORBIDDEN'], ['FORBIDDEN']]);
        expect(answers.map((answer) => answer['token'] === null)).toEqual([false, false, true, true]);
      });
    });
  });
});
