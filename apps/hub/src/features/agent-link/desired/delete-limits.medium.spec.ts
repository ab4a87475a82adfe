/** Rule 2 of the link on several replicas with other settings, as while a rollout changes them: all decide the same. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EMPTY_DIGEST } from '#protocol';
import { ApiClient } from '../../../../test/api-client.ts';
import { enrolAgent, openSession, readDelivery, unwant, want, type Enrolled } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import type { TestAgent } from '../../../../test/test-agent.ts';
import { encodeGlobalId } from '../../../platform/graphql/index.ts';
import { WAIT } from '../../../../test/wait.ts';

const STRICT = { perAgent: 1, perActor: 20, fleet: 20 };
const LAX = { perAgent: 1_000, perActor: 1_000, fleet: 1_000 };

describe('replicas of different settings', () => {
  let strict: TestHub;
  let lax: TestHub;
  let api: ApiClient;
  beforeAll(async () => {
    const url = await createTestDatabase();
    strict = await startTestHub(url, { deleteLimits: STRICT });
    lax = await startTestHub(url, { deleteLimits: LAX, like: strict });
    api = await ApiClient.admin(lax);
  });
  afterAll(async () => {
    await api.close();
    await lax.close();
  });

  /** Two objects whose delete was asked for at the replica that would let all of them pass. */
  const askForTwo = async (enrolled: Enrolled): Promise<readonly [string, string]> => {
    const [first, second] = [await want(lax, enrolled, 'first'), await want(lax, enrolled, 'second')];
    for (const { hubUid } of [first, second]) {
      const input = { id: encodeGlobalId('RedisCluster', hubUid), expectedGeneration: null };
      expect((await api.mutate('deleteRedisCluster', input, 'redisCluster { id }'))['userErrors']).toEqual([]);
    }
    return [first.hubUid, second.hubUid];
  };
  const tombstonesOf = async (agent: TestAgent): Promise<string[]> => {
    const seen: string[] = [];
    for (let rounds = 0; rounds < 2; rounds += 1) {
      const { revision, tombstones } = await agent.next('Delta');
      seen.push(...tombstones.map(({ hubUid }) => hubUid));
      agent.send('DesiredAck', { revision, outcomes: [], digest: EMPTY_DIGEST });
      if (seen.length > 0) break;
    }
    return seen;
  };
  const state = async (hubUid: string): Promise<string> => {
    const row = await readDelivery(lax, hubUid);
    return `${row?.state} ${row?.code}`;
  };

  it('judge by the strictest of those that live, whichever is asked', async () => {
    const enrolled = await enrolAgent(lax);
    const [first, second] = await askForTwo(enrolled);
    expect(await state(first)).toBe('PENDING null');
    expect(await state(second)).toBe('WAITING DELETE_BREAKER');
    // A delete that nobody has judged: as a replica of an older release leaves it.
    const third = await want(lax, enrolled, 'third');
    await unwant(lax, enrolled, third.hubUid);
    const { agent } = await openSession(lax, enrolled, {
      hubEpoch: lax.runtime.identity.hubEpoch,
      appliedRevision: 2,
    });
    expect(await tombstonesOf(agent)).toEqual([first]);
    await vi.waitFor(async () => expect(await state(third.hubUid)).toBe('WAITING DELETE_BREAKER'), WAIT);
    expect(await state(second)).toBe('WAITING DELETE_BREAKER');
    agent.close();
  });

  it('keep what is held, whatever another one has noted of it, and even an older release is refused to let it go', async () => {
    const enrolled = await enrolAgent(lax);
    const [, held] = await askForTwo(enrolled);
    await lax.runtime.dataSource.query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
    const release = (approvalId: string | null): Promise<unknown> =>
      lax.runtime.dataSource.query(
        'INSERT INTO tombstone_release (hub_uid, agent_id, released_at, approval_id) VALUES ($1, $2, now(), $3)',
        [held, enrolled.agentId, approvalId],
      );
    await expect(release(null)).rejects.toThrow('waits for a person');
    // One that got in all the same: the row of the object counts, not what is noted beside it.
    await release('00000000-0000-7000-8000-000000000000');
    await lax.runtime.dataSource.query('UPDATE tombstone_release SET approval_id = NULL WHERE hub_uid = $1', [held]);
    const { agent } = await openSession(lax, enrolled, {
      hubEpoch: lax.runtime.identity.hubEpoch,
      appliedRevision: 2,
    });
    expect(await tombstonesOf(agent)).not.toContain(held);
    expect(await state(held)).toBe('WAITING DELETE_BREAKER');
    agent.close();
  });

  it('judge by the others once the strictest has gone', async () => {
    await strict.close();
    await lax.runtime.dataSource.query(`UPDATE tombstone_release SET released_at = now() - interval '1 hour'`);
    const enrolled = await enrolAgent(lax);
    for (const hubUid of await askForTwo(enrolled)) expect(await state(hubUid)).toBe('PENDING null');
    const told = await lax.runtime.dataSource.query('SELECT replica FROM replica_delete_limits');
    expect(told).toEqual([{ replica: lax.runtime.replica }]);
  });
});
