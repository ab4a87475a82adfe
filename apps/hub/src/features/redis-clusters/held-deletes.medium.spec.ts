/** Rules 2 and 8 of the link at the API: what a hold is for is in the object's row, and no later event makes it less strict. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiClient, Json } from '../../../test/api-client.ts';
import { clientWith, createRedisCluster, startApi, type Api, type Created } from '../../../test/api-fixture.ts';
import { enrolAgent, type Enrolled } from '../../../test/link-fixture.ts';
import { encodeGlobalId } from '../../platform/graphql/index.ts';

const PENDING = 'PENDING null';
const BREAKER = 'WAITING DELETE_BREAKER';

let api: Api;
let operator: ApiClient;
let agent: Enrolled;
beforeAll(async () => {
  api = await startApi();
  ({ client: operator } = await clientWith(api.hub, [{ role: 'OPERATOR', projectId: null }]));
});
afterAll(async () => {
  await operator.close();
  await api.close();
});
beforeEach(async () => {
  agent = await enrolAgent(api.hub);
  await query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
});

const query = <T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  api.hub.runtime.dataSource.query<T[]>(sql, [...values]);
const make = async (count: number): Promise<Created[]> => {
  const memberClusterId = encodeGlobalId('MemberCluster', agent.memberClusterId);
  const made: Created[] = [];
  while (made.length < count) made.push(await createRedisCluster(api, { memberClusterId }));
  return made;
};
/** State and code of its delivery, as they are answered to an OPERATOR who asks for the delete. */
const ask = async ({ id }: Created): Promise<string> => {
  const input = { id, expectedGeneration: null };
  const answer = await operator.mutate('deleteRedisCluster', input, 'redisCluster { delivery { state code } }');
  const { delivery } = answer['redisCluster'] as unknown as { delivery: Json };
  return `${String(delivery['state'])} ${String(delivery['code'])}`;
};
const askForAll = async (made: readonly Created[]): Promise<string[]> => {
  const answers: string[] = [];
  for (const one of made) answers.push(await ask(one));
  return answers;
};
/** A new epoch and the old one again, in one transaction: the hub that runs sees no change. */
const renewEpoch = (): Promise<unknown> =>
  api.hub.runtime.dataSource.transaction(async (tx) => {
    const [row] = await tx.query<{ epoch: string }[]>('SELECT hub_epoch AS epoch FROM hub_identity');
    await tx.query('UPDATE hub_identity SET hub_epoch = gen_random_uuid()');
    await tx.query('UPDATE hub_identity SET hub_epoch = $1', [row?.epoch]);
  });
const waitsFor = async ({ hubUid }: Created): Promise<string | null | undefined> => {
  const rows = await query<{ why: string | null }>(
    'SELECT deletion_held_for AS why FROM resource WHERE hub_uid = $1 AND deletion_held_at IS NOT NULL',
    [hubUid],
  );
  return rows[0]?.why;
};
const stateOf = async ({ hubUid }: Created): Promise<string> => {
  const [row] = await query<{ told: string }>(
    `SELECT state || ' ' || coalesce(code, 'null') AS told FROM delivery WHERE hub_uid = $1`,
    [hubUid],
  );
  return row?.told ?? '';
};

describe('a delete that the breaker holds', () => {
  it('still waits for an ADMIN after a new epoch, however often it is asked for', async () => {
    const made = await make(4);
    expect((await askForAll(made)).at(-1)).toBe(BREAKER);
    const held = made[3]!;
    await query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
    await renewEpoch();
    expect(await ask(held)).toBe(BREAKER);
    expect(await ask(held)).toBe(BREAKER);
    expect(await waitsFor(held)).toBe('DELETE_BREAKER');
    // The others had passed: asking once more is enough for them.
    expect(await ask(made[0]!)).toBe(PENDING);
  });

  it('still waits for an ADMIN when it is let go instead and asked for again after the window', async () => {
    const made = await make(4);
    expect((await askForAll(made)).at(-1)).toBe(BREAKER);
    const held = made[3]!;
    await query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
    const forget = { id: held.id, expectedGeneration: null };
    expect(await operator.mutate('forgetRedisCluster', forget, 'orphaned')).toMatchObject({ userErrors: [] });
    expect(await stateOf(held)).toBe(PENDING);
    expect(await ask(held)).toBe(BREAKER);
    expect(await waitsFor(held)).toBe('DELETE_BREAKER');
    expect(await query('SELECT 1 FROM tombstone_release WHERE hub_uid = $1', [held.hubUid])).toEqual([]);
    await api.admin.mutate('approveDeletes', { redisClusterIds: [held.id] }, 'approvalId');
    expect(await waitsFor(held)).toBeUndefined();
  });

  it('by a replica of an older release, which names no reason, waits for an ADMIN as well', async () => {
    const made = await make(1);
    const [one] = made as [Created];
    await ask(one);
    await renewEpoch();
    await query('UPDATE resource SET deletion_held_at = NULL WHERE hub_uid = $1', [one.hubUid]);
    await query('UPDATE resource SET deletion_held_at = now() WHERE hub_uid = $1', [one.hubUid]);
    expect(await waitsFor(one)).toBe('DELETE_BREAKER');
    await ask(one);
    expect(await waitsFor(one)).toBe('DELETE_BREAKER');
  });
});

describe('a delete that waits because the database was restored', () => {
  it('is still counted by the breaker, and once when it is asked for again', async () => {
    const made = await make(5);
    const passed = made.slice(0, 3);
    expect(await askForAll(passed)).toEqual([PENDING, PENDING, PENDING]);
    await renewEpoch();
    expect(await ask(made[3]!)).toBe(BREAKER);
    expect(await askForAll(passed)).toEqual([PENDING, PENDING, PENDING]);
    expect(await ask(made[4]!)).toBe(BREAKER);
  });

  it('goes on when it is asked for once more, though a late outcome took the reason off its delivery', async () => {
    const [one] = (await make(1)) as [Created];
    await ask(one);
    await renewEpoch();
    expect(await waitsFor(one)).toBe('DELETE_BEFORE_RESTORE');
    await query(`UPDATE delivery SET state = 'REJECTED', code = 'NOT_PERMITTED_HERE' WHERE hub_uid = $1`, [one.hubUid]);
    expect(await ask(one)).toBe(PENDING);
    expect(await waitsFor(one)).toBeUndefined();
  });
});

describe('an object that moves to another agent', () => {
  it('by whatever release takes its delete along as one that waits, and nothing else', async () => {
    const [released, held, wanted, freed] = (await make(4)) as [Created, Created, Created, Created];
    for (const one of [released, held]) await ask(one);
    await query('UPDATE resource SET deletion_held_at = now() WHERE hub_uid = $1', [held.hubUid]);
    await query(`UPDATE delivery SET state = 'WAITING', code = 'DELETE_BREAKER' WHERE hub_uid = $1`, [held.hubUid]);
    await operator.mutate('forgetRedisCluster', { id: freed.id, expectedGeneration: null }, 'orphaned');
    const next = await enrolAgent(api.hub);
    await query('UPDATE resource SET agent_id = $2 WHERE agent_id = $1', [agent.agentId, next.agentId]);
    expect(await stateOf(released)).toBe('WAITING DELETE_BEFORE_REPLACEMENT');
    expect(await waitsFor(released)).toBe('DELETE_BEFORE_REPLACEMENT');
    expect(await stateOf(held)).toBe(BREAKER);
    expect(await waitsFor(held)).toBe('DELETE_BREAKER');
    expect(await query('SELECT 1 FROM tombstone_release WHERE hub_uid = $1', [released.hubUid])).toEqual([]);
    for (const one of [wanted, freed]) {
      expect(await stateOf(one)).toBe(PENDING);
      expect(await waitsFor(one)).toBeUndefined();
    }
    expect(await ask(released)).toBe(PENDING);
  });
});
