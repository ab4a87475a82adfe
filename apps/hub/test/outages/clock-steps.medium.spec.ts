/**
 * Clocks that step by an hour, of this replica and of the database: what was promised for a time is kept for that time, what
 * is limited in a window stays limited, and nothing that was due waits for an hour. What steps of the database's clock do to
 * the freshness of agents is in liveness.medium.spec.ts.
 */
import { EMPTY_DIGEST } from '#protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { DesiredRepository } from '../../src/features/agent-link/desired/desired.repository.ts';
import { encodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import { systemClock } from '../../src/platform/lifecycle/time-and-ids.ts';
import type { ApiClient } from '../api-client.ts';
import { clientWith, createRedisCluster, startApi, type Api } from '../api-fixture.ts';
import { approve, enrol, enrolAgent, openSession, want } from '../link-fixture.ts';
import { createIdentity, TestAgent } from '../test-agent.ts';
import { WAIT } from '../wait.ts';

const HOUR_MS = 3_600_000;
const STEPS = [HOUR_MS, -HOUR_MS];

let api: Api;
let operator: ApiClient;
beforeAll(async () => {
  api = await startApi();
  ({ client: operator } = await clientWith(api.hub, [{ role: 'OPERATOR', projectId: null }]));
});
afterAll(async () => {
  await operator.close();
  await api.close();
});
afterEach(() => vi.restoreAllMocks());

const query = <T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  api.hub.runtime.dataSource.query<T[]>(sql, [...values]);
/** The clock of this replica from now on. */
const stepOwnClock = (byMs: number): void => {
  vi.spyOn(systemClock, 'nowMs').mockImplementation(() => Date.now() + byMs);
};

describe('after a step of the clock of a replica', () => {
  it.each(STEPS)('by %i ms deletes of the last minutes still count, and one too many is held', async (stepMs) => {
    const agent = await enrolAgent(api.hub);
    await query(`UPDATE tombstone_release SET released_at = now() - interval '1 day'`);
    const memberClusterId = encodeGlobalId('MemberCluster', agent.memberClusterId);
    const ask = async (): Promise<string> => {
      const { id } = await createRedisCluster(api, { memberClusterId });
      const input = { id, expectedGeneration: null };
      const answer = await operator.mutate('deleteRedisCluster', input, 'redisCluster { delivery { code } }');
      return String(answer['redisCluster']?.['delivery']?.['code']);
    };
    const before = [await ask(), await ask(), await ask()];
    stepOwnClock(stepMs);
    expect([...before, await ask()]).toEqual(['null', 'null', 'null', 'DELETE_BREAKER']);
  });

  it.each(STEPS)('by %i ms an approval ends when it was promised to, by the clock that judges it', async (stepMs) => {
    const { id } = await createRedisCluster(api, { memberClusterId: api.memberClusterId });
    stepOwnClock(stepMs);
    const input = { redisClusterIds: [id], expiresInSeconds: 600 };
    await api.admin.mutate('deleteRedisCluster', { id, expectedGeneration: null }, 'redisCluster { id }');
    await api.admin.mutate('approveDeletes', input, 'expiresAt');
    const [row] = await query<{ inMs: number }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 * 1000 AS "inMs" FROM delete_approval
       ORDER BY approved_at DESC LIMIT 1`,
    );
    expect(Math.abs((row?.inMs ?? 0) - 600_000)).toBeLessThan(30_000);
  });

  it('forward a token of an enrolment that was just given out is still good', async () => {
    const { agentId, token } = await enrol(api.hub);
    stepOwnClock(2 * HOUR_MS);
    const agent = await TestAgent.connect(api.hub, createIdentity());
    agent.enrol(token);
    await agent.next('EnrolPending');
    await approve(api.hub, agentId);
    await agent.next('Enrolled');
    agent.close();
    await agent.waitForClose();
  });

  it.each(STEPS)('by %i ms what an agent refuses for now is tried again after the usual pause', async (stepMs) => {
    const enrolled = await enrolAgent(api.hub);
    const { agent } = await openSession(api.hub, enrolled);
    const wanted = await want(api.hub, enrolled, 'refused');
    const delta = await agent.next('Delta');
    stepOwnClock(stepMs);
    const rejected = { ...wanted, state: 'REJECTED', code: 'NOT_PERMITTED_HERE', retryable: true } as const;
    agent.send('DesiredAck', { revision: delta.revision, outcomes: [rejected], digest: EMPTY_DIGEST });
    await expect.poll(() => pauseOf(wanted.hubUid), WAIT).toBeGreaterThan(0);
    expect(await pauseOf(wanted.hubUid)).toBeLessThan(60_000);
    agent.close();
    await agent.waitForClose();
  });
});

/** In how many ms it is due by the clock of the database. */
async function pauseOf(hubUid: string): Promise<number> {
  const rows = await query<{ inMs: number | null }>(
    `SELECT extract(epoch FROM next_attempt_at - now())::float8 * 1000 AS "inMs" FROM delivery
     WHERE hub_uid = $1 AND state = 'REJECTED'`,
    [hubUid],
  );
  return rows[0]?.inMs ?? -1;
}

describe('after a step of the clock of the database', () => {
  it.each(STEPS)('by %i ms what is due is found, and does not wait for that time', async (stepMs) => {
    const enrolled = await enrolAgent(api.hub);
    const { agent } = await openSession(api.hub, enrolled);
    const wanted = await want(api.hub, enrolled, 'due');
    await agent.next('Delta');
    const { dataSource, replica } = api.hub.runtime;
    // As if it had been put off before the step.
    await query(`UPDATE delivery SET next_attempt_at = now() + $2 * interval '1 millisecond' WHERE hub_uid = $1`, [
      wanted.hubUid,
      60_000 - stepMs,
    ]);
    const repository = new DesiredRepository(dataSource, {} as never);
    const due = await repository.findDue(replica, 7 * 24 * HOUR_MS);
    expect(due.get(enrolled.agentId)).toContain(wanted.hubUid);
    agent.close();
    await agent.waitForClose();
  });
});
