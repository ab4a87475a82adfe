import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiAnswer, Json } from '../../../test/api-client.ts';
import { createRedisCluster, SPEC, startApi, type Api } from '../../../test/api-fixture.ts';
import { listLeaves, requestAt, type Leaf, type RootName, type Samples } from '../../../test/schema-leaves.ts';
import { encodeGlobalId } from './global-id.ts';

const AT_ONCE = 4;
const LENGTHS = [300, 4_000, 5_000, 100_000];
const TEXTS = LENGTHS.flatMap((length) => ['x'.repeat(length), '🦄'.repeat(length)]);
const NUMBERS = [0, -1, 0.5, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e308];
const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels)) as unknown;

/** What is tried at a leaf of this type. */
function hostileValues(type: string): readonly unknown[] {
  if (type === 'ID' || type === 'String') return TEXTS;
  if (type === 'Int') return NUMBERS;
  const inMaps = [...TEXTS, ...NUMBERS].flatMap((value) => [{ a: value }, { [String(value)]: 'a' }]);
  return [...inMaps, ...TEXTS, nested(1_000), Array.from({ length: 10_000 }, () => 1), { a: [{}] }];
}

describe('the API under hostile values', () => {
  let api: Api;
  let samples: Samples;

  beforeAll(async () => {
    api = await startApi();
    const { id } = await createRedisCluster(api);
    const nobody = encodeGlobalId('Agent', randomUUID());
    samples = {
      ID: nobody,
      String: 'x',
      Int: 1,
      Boolean: false,
      JSON: {},
      id,
      redisClusterIds: [id],
      memberClusterId: api.memberClusterId,
      expectedGeneration: null,
      namespace: 'shop',
      spec: SPEC,
      dryRun: true,
    };
  });
  afterAll(() => api.close());

  const samplesFor = (leaf: Leaf): Samples => {
    // Forgetting it would take the member cluster away from all that follows; a dry run takes no key.
    const isForget = leaf.field === 'forgetMemberCluster' || leaf.field === 'replaceMemberCluster';
    const isKey = leaf.path.at(-1) === 'idempotencyKey';
    const { ID } = samples;
    return { ...samples, ...(isForget ? { memberClusterId: ID } : {}), ...(isKey ? { dryRun: false, id: ID } : {}) };
  };

  async function tryAll(
    root: RootName,
    judge: (answer: ApiAnswer, leaf: Leaf, value: unknown) => string | undefined,
  ): Promise<string[]> {
    const tries = listLeaves(root).flatMap((leaf) => hostileValues(leaf.type).map((value) => ({ leaf, value })));
    const wrong: string[] = [];
    const work = async (): Promise<void> => {
      for (let next = tries.pop(); next; next = tries.pop()) {
        const { leaf, value } = next;
        const { query, variables } = requestAt(leaf, value, samplesFor(leaf));
        const answer = await api.admin.query(query, variables);
        const found = judge(answer, leaf, value) ?? explainFault(answer);
        const size =
          typeof value === 'string' ? `${value.length} of ${value.slice(0, 2)}` : JSON.stringify(value).slice(0, 40);
        if (found !== undefined) wrong.push(`${leaf.field} ${leaf.path.join('.')} ${size}: ${found}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return wrong;
  }

  const explainFault = ({ status, errors, text }: ApiAnswer): string | undefined => {
    const code = errors[0]?.extensions.code;
    return status >= 500 || code === 'INTERNAL' || code === 'UNAVAILABLE'
      ? `${status} ${text.slice(0, 200)}`
      : undefined;
  };

  it('answers every query and every mutation with a code, and never with INTERNAL', { timeout: 300_000 }, async () => {
    expect(listLeaves('Mutation').length).toBeGreaterThan(80);
    const wrong = await tryAll('Query', ({ errors, text }, _leaf, value) => {
      const isLong = typeof value === 'string' && Buffer.byteLength(value) > 4_096;
      return isLong && errors[0]?.extensions.code !== 'BAD_USER_INPUT' ? text.slice(0, 200) : undefined;
    });
    expect(wrong).toEqual([]);
    const refused = await tryAll('Mutation', ({ data, text }, leaf, value) => {
      if (typeof value !== 'string' || value.length < 100_000) return undefined;
      const errors = data[leaf.field]?.['userErrors'] as unknown as Json[] | undefined;
      const [first] = errors ?? [];
      const isSaid = String(first?.['code']) === 'INVALID_INPUT' && String(first?.['message']).length < 2_000;
      return isSaid ? undefined : text.slice(0, 200);
    });
    expect(refused).toEqual([]);
    const failed: unknown = await api.hub.runtime.dataSource.query(
      `SELECT action, target FROM audit WHERE result = 'FAILED'`,
    );
    expect(failed).toEqual([]);
  });

  it.each([
    ['enrolMemberCluster', { name: 'x'.repeat(5_000) }, 'name'],
    ['revokeAgent', { agentId: 'x'.repeat(4_000) }, 'agentId'],
    ['enrolMemberCluster', { name: 'site-of-a-key', idempotencyKey: '🦄'.repeat(4_000) }, 'idempotencyKey'],
  ])(
    'refuses %s with a text that is too long, names the field, and the audit holds it',
    async (action, input, field) => {
      const { dataSource } = api.hub.runtime;
      await dataSource.query('SELECT 1');
      const payload = await api.admin.mutate(action, input, '');
      const [error] = payload['userErrors'] as unknown as { code: string; field: string[]; message: string }[];
      expect(error).toMatchObject({ code: 'INVALID_INPUT', field: ['input', field] });
      expect(error?.message).toMatch(/has \d+ bytes; at most \d+/);
      const rows: unknown[] = await dataSource.query(
        `SELECT code FROM audit WHERE action = $1 AND result = 'REFUSED' AND octet_length(target) < 600`,
        [action],
      );
      expect(rows).toContainEqual({ code: 'INVALID_INPUT' });
    },
  );

  it('refuses nesting of 100,000 levels, which no walk of its own survives', async () => {
    const labels = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const query =
      'mutation M($i: EnrolMemberClusterInput!) { enrolMemberCluster(input: $i) { userErrors { code field } } }';
    const body = `{"query":${JSON.stringify(query)},"variables":{"i":{"name":"deep","labels":${labels}}}}`;
    const answer = await api.admin.send({ headers: { 'content-type': 'application/json' }, body });
    const [error] = answer.data['enrolMemberCluster']?.['userErrors'] as unknown as Json[];
    expect(error).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it.each([
    ['20 nines', '9'.repeat(20)],
    ['400 digits', '9'.repeat(400)],
    ['a negative number', '-1'],
  ])('refuses a cursor of a subscription whose xid is %s', async (_what, xid) => {
    const epoch = api.hub.runtime.identity.hubEpoch;
    const after = Buffer.from(`${epoch}/${xid}/1`).toString('base64url');
    const socket = api.admin.socket();
    const query = 'subscription S($id: ID!, $after: String) { redisCluster(id: $id, after: $after) { kind } }';
    const codes: unknown[] = [];
    const take = (errors: unknown): void => {
      const list = Array.isArray(errors) ? (errors as { extensions?: { code?: string } }[]) : [];
      codes.push(...list.map((error) => error.extensions?.code));
    };
    try {
      for await (const { errors } of socket.iterate({ query, variables: { id: samples['id'], after } })) {
        take(errors);
        break;
      }
    } catch (errors) {
      take(errors);
    }
    expect(codes).toEqual(['BAD_USER_INPUT']);
    await socket.dispose();
  });
});
