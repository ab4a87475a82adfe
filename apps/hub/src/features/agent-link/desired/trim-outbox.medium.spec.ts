import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { enrolAgent, openSession, unwant, want } from '../../../../test/link-fixture.ts';
import { createApart } from '../../../../test/raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { trimIdempotencyKeys } from '../../audit/index.ts';
import { trimOutbox } from './trim-outbox.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => hub.runtime.dataSource.query<T[]>(sql, values);
const trim = (work: typeof trimOutbox): Promise<void> =>
  hub.runtime.dataSource.transaction((tx) => work(tx, createApart('outbox')));

describe('trimming', () => {
  it('forgets idempotency keys whose day is over, and no other', async () => {
    const principal = randomUUID();
    for (const [key, age] of Object.entries({ old: '26 hours', young: '23 hours' })) {
      await query(
        `INSERT INTO idempotency_key (principal, key, request_hash, response, created_at)
         VALUES ($1, $2, '', 'null', now() - $3::interval)`,
        [principal, key, age],
      );
    }
    await trim(trimIdempotencyKeys);
    expect(await query('SELECT key FROM idempotency_key WHERE principal = $1', [principal])).toEqual([
      { key: 'young' },
    ]);
  });

  it('keeps what the breaker said of a delete until the agent has acked it, however long it is away', async () => {
    const enrolled = await enrolAgent(hub);
    const { hubUid } = await want(hub, enrolled, 'doomed');
    await unwant(hub, enrolled, hubUid);
    const gone = randomUUID();
    await query(
      `INSERT INTO tombstone_release (hub_uid, agent_id, released_at) SELECT u, $2, now() - interval '60 days'
       FROM unnest($1::uuid[]) AS u`,
      [[hubUid, gone], enrolled.agentId],
    );
    await trim(trimOutbox);
    const kept = await query('SELECT hub_uid FROM tombstone_release WHERE hub_uid = ANY($1::uuid[])', [[hubUid, gone]]);
    expect(kept).toEqual([{ hub_uid: hubUid }]);
  });

  it('forgets empty counts, and counts on after it', async () => {
    const enrolled = await enrolAgent(hub);
    const counts = (): Promise<unknown[]> =>
      query('SELECT phase, count FROM agent_rollup WHERE agent_id = $1 ORDER BY phase', [enrolled.agentId]);
    const { hubUid } = await want(hub, enrolled, 'cache');
    await query(`UPDATE rollup_entry SET phase = 'Ready' WHERE hub_uid = $1`, [hubUid]);
    expect(await counts()).toEqual([
      { phase: 'Pending', count: 0 },
      { phase: 'Ready', count: 1 },
    ]);
    await trim(trimOutbox);
    expect(await counts()).toEqual([{ phase: 'Ready', count: 1 }]);
    await want(hub, enrolled, 'other');
    expect(await counts()).toEqual([
      { phase: 'Pending', count: 1 },
      { phase: 'Ready', count: 1 },
    ]);
  });

  it('leaves an empty count alone that somebody counts in at present', async () => {
    const enrolled = await enrolAgent(hub);
    const { hubUid } = await want(hub, enrolled, 'cache');
    await query(`UPDATE rollup_entry SET phase = 'Ready' WHERE hub_uid = $1`, [hubUid]);
    const runner = hub.runtime.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`UPDATE rollup_entry SET phase = 'Pending' WHERE hub_uid = $1`, [hubUid]);
    await trim(trimOutbox);
    await runner.commitTransaction();
    await runner.release();
    await trim(trimOutbox);
    expect(await query('SELECT phase, count FROM agent_rollup WHERE agent_id = $1', [enrolled.agentId])).toEqual([
      { phase: 'Pending', count: 1 },
    ]);
  });

  it('forgets old changes that were acked, except the newest', async () => {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    agent.close();
    const { hubUid } = await want(hub, enrolled, 'cache');
    await unwant(hub, enrolled, hubUid);
    await want(hub, enrolled, 'cache');
    await query(`UPDATE desired_change SET at = now() - interval '25 hours' WHERE agent_id = $1`, [enrolled.agentId]);
    await query('UPDATE agent_spec_head SET acked_revision = revision WHERE agent_id = $1', [enrolled.agentId]);
    await trim(trimOutbox);
    expect(await query('SELECT revision FROM desired_change WHERE agent_id = $1', [enrolled.agentId])).toEqual([
      { revision: 3 },
    ]);
  });
});
