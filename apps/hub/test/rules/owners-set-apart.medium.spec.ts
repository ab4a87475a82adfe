/**
 * Work for many owners at once, of which one cannot be written: by each SQLSTATE that PostgreSQL may refuse it with, the others are
 * served all the same, and the one is served again as soon as it can be.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { EntityManager } from 'typeorm';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { LINK_PARTS, type LinkParts } from '../../src/features/agent-link/connections/link-parts.ts';
import { LivenessWork } from '../../src/features/agent-link/liveness/liveness.work.ts';
import { SeenRecorder } from '../../src/features/agent-link/liveness/seen-recorder.ts';
import { FoldWork } from '../../src/features/agent-link/rollups/fold.work.ts';
import { trimOutbox } from '../../src/features/agent-link/desired/trim-outbox.ts';
import { trimEvents } from '../../src/features/agent-link/status/agent-limits.repository.ts';
import { trimIdempotencyKeys } from '../../src/features/audit/index.ts';
import { holdClaim } from '../hold-claim.ts';
import { type Enrolled, enrolAgent, openSession, want } from '../link-fixture.ts';
import { createApart, raiseFor, type Refusal, SQLSTATES, SQLSTATES_OF_OTHERS } from '../raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { TestAgent } from '../test-agent.ts';

const ALL = [...SQLSTATES, ...SQLSTATES_OF_OTHERS];

let hub: TestHub;
let bad: Enrolled;
let good: Enrolled;
/** Holds the claims, so that the hub's own workers do nothing. */
let manager: EntityManager;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
  for (const enrolled of [(bad = await enrolAgent(hub)), (good = await enrolAgent(hub))]) {
    const { agent } = await openSession(hub, enrolled);
    await want(hub, enrolled, 'cache');
    agent.close();
    await agent.waitForClose();
  }
  // What was heard of the agents and is not written yet would be newer than what the tests write.
  await hub.app.get<LinkParts>(LINK_PARTS, { strict: false }).seen.flush();
  return () => hub.close();
});
beforeEach(async () => {
  const looks = await holdClaim(hub, 'liveness');
  const folds = await holdClaim(hub, 'health');
  manager = folds.manager;
  return async () => {
    await folds.release();
    await looks.release();
  };
});

const query = <T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  hub.runtime.dataSource.query<T[]>(sql, [...values]);

async function refuse(refusal: Refusal): Promise<() => Promise<void>> {
  const end = await raiseFor(hub.runtime.dataSource, refusal);
  onTestFinished(end);
  return end;
}

describe('the fold', () => {
  const fold = (): Promise<unknown> =>
    manager.transaction((tx) => new FoldWork(pino({ level: 'silent' })).tick(tx, Date.now()));
  const phasesOf = async ({ memberClusterId }: Enrolled): Promise<readonly string[]> => {
    const sql = 'SELECT phase FROM member_cluster_rollup WHERE member_cluster_id = $1';
    return (await query<{ phase: string }>(sql, [memberClusterId])).map(({ phase }) => phase);
  };
  const setPhases = (phase: string): Promise<unknown> =>
    query('UPDATE rollup_entry SET phase = $2 WHERE agent_id = ANY($1::uuid[])', [[bad.agentId, good.agentId], phase]);
  const due = (): Promise<unknown> => query('UPDATE rollup_apart SET next_at = now()');

  it.each(ALL)('counts the others while those of one member cluster are refused with %s', async (sqlstate) => {
    await setPhases(`Before${sqlstate}`);
    await fold();
    const when = `NEW.member_cluster_id = '${bad.memberClusterId}'`;
    const end = await refuse({ table: 'member_cluster_rollup', on: 'INSERT OR UPDATE', when, sqlstate });
    await setPhases(`After${sqlstate}`);
    await fold();
    expect([await phasesOf(bad), await phasesOf(good)]).toEqual([[`Before${sqlstate}`], [`After${sqlstate}`]]);
    const apart = (): Promise<unknown[]> => query('SELECT member_cluster_id AS id, tries, sqlstate FROM rollup_apart');
    expect(await apart()).toEqual([{ id: bad.memberClusterId, tries: 1, sqlstate }]);
    expect(await query('SELECT 1 FROM rollup_mark')).toEqual([]);
    await due();
    await fold();
    expect(await apart()).toEqual([{ id: bad.memberClusterId, tries: 2, sqlstate }]);
    await end();
    await due();
    await fold();
    expect([await apart(), await phasesOf(bad)]).toEqual([[], [`After${sqlstate}`]]);
  });

  it('leaves a member cluster alone until it is due, whatever is marked meanwhile', async () => {
    const when = `NEW.member_cluster_id = '${bad.memberClusterId}'`;
    await refuse({ table: 'member_cluster_rollup', on: 'INSERT OR UPDATE', when, sqlstate: 'XX000' });
    await setPhases('One');
    await fold();
    await query(`UPDATE rollup_apart SET next_at = now() + interval '1 hour'`);
    await setPhases('Two');
    await fold();
    expect(await query('SELECT tries FROM rollup_apart')).toEqual([{ tries: 1 }]);
    expect(await phasesOf(good)).toEqual(['Two']);
    await query('DELETE FROM rollup_apart');
  });
});

describe('a look at liveness', () => {
  const look = (work: LivenessWork): ReturnType<LivenessWork['look']> => manager.transaction((tx) => work.look(tx));
  const verdicts = async (): Promise<readonly string[]> => {
    const rows = await query<{ verdict: string }>(
      'SELECT verdict FROM agent_seen JOIN unnest($1::uuid[]) WITH ORDINALITY AS i(agent_id, n) USING (agent_id) ORDER BY n',
      [[bad.agentId, good.agentId]],
    );
    return rows.map(({ verdict }) => verdict);
  };

  it.each(ALL)('judges the others while the verdict of one is refused with %s', async (sqlstate) => {
    await query(`UPDATE agent_seen SET verdict = 'FRESH', seen_at = now() - interval '60 seconds'`);
    await query(`INSERT INTO liveness_pulse (at, grace_until) VALUES (now(), now()) ON CONFLICT (one)
      DO UPDATE SET at = now(), grace_until = now()`);
    const when = `NEW.agent_id = '${bad.agentId}'`;
    const end = await refuse({ table: 'agent_seen', on: 'UPDATE', when, sqlstate });
    const work = new LivenessWork(createApart('liveness'));
    expect((await look(work)).verdicts).toEqual([{ agentId: good.agentId, verdict: 'LATE' }]);
    expect(await verdicts()).toEqual(['FRESH', 'LATE']);
    await end();
    await look(new LivenessWork(createApart('liveness')));
    expect(await verdicts()).toEqual(['LATE', 'LATE']);
  });
});

describe('heartbeats', () => {
  it.each(ALL)('of the others are written while those of one are refused with %s', async (sqlstate) => {
    await query(`UPDATE agent_seen SET seen_at = now() - interval '1 hour'`);
    await refuse({ table: 'agent_seen', on: 'UPDATE', when: `NEW.agent_id = '${bad.agentId}'`, sqlstate });
    const seen = new SeenRecorder(hub.runtime.dataSource, pino({ level: 'silent' }), createApart('heartbeats'));
    for (const { agentId } of [bad, good]) seen.note(agentId);
    await seen.flush();
    const heard = await query<{ id: string }>(
      `SELECT agent_id AS id FROM agent_seen WHERE seen_at > now() - interval '1 minute' AND agent_id = ANY($1::uuid[])`,
      [[bad.agentId, good.agentId]],
    );
    expect(heard).toEqual([{ id: good.agentId }]);
  });
});

describe('trimming', () => {
  const trim = (work: typeof trimOutbox): Promise<void> => manager.transaction((tx) => work(tx, createApart('outbox')));

  it.each(ALL)(
    'goes on for the others, and for other tables, while the rows of one agent are kept by %s',
    async (sqlstate) => {
      const owners = [bad.agentId, good.agentId];
      await query(
        `INSERT INTO desired_change (agent_id, revision, hub_uid, op, at)
       SELECT agent_id, 0, gen_random_uuid(), 'UPSERT', now() - interval '3 days' FROM unnest($1::uuid[]) AS a(agent_id)
       ON CONFLICT DO NOTHING`,
        [owners],
      );
      await query('UPDATE agent_spec_head SET acked_revision = 1 WHERE agent_id = ANY($1::uuid[])', [owners]);
      const replica = `gone-${sqlstate}`;
      await query(`INSERT INTO replica_delete_limits VALUES ($1, 1, 1, 1, now() - interval '2 days')`, [replica]);
      const when = `OLD.agent_id = '${bad.agentId}'`;
      await refuse({ table: 'desired_change', on: 'DELETE', when, sqlstate });
      await trim(trimOutbox);
      const left = await query<{ id: string }>(
        'SELECT agent_id AS id FROM desired_change WHERE revision = 0 AND agent_id = ANY($1::uuid[])',
        [owners],
      );
      expect(left).toEqual([{ id: bad.agentId }]);
      expect(await query('SELECT 1 FROM replica_delete_limits WHERE replica = $1', [replica])).toEqual([]);
    },
  );

  it('of events beyond what is kept goes on for the others', async () => {
    const owners = [bad.agentId, good.agentId];
    await query(
      `INSERT INTO event (id, at, agent_id, severity, reason, message, first_at, last_at, count)
       SELECT gen_random_uuid(), now() + n * interval '1 ms', a, 'Normal', 'R', 'm', now(), now(), 1
       FROM unnest($1::uuid[]) AS a, generate_series(1, 5) AS n`,
      [owners],
    );
    await query(
      `INSERT INTO agent_event_usage SELECT a, now(), 0, 5 FROM unnest($1::uuid[]) AS a
       ON CONFLICT (agent_id) DO UPDATE SET untrimmed = 5`,
      [owners],
    );
    await refuse({ table: 'event', on: 'DELETE', when: `OLD.agent_id = '${bad.agentId}'`, sqlstate: 'XX000' });
    const apart = createApart('events');
    const gone = await manager.transaction((tx) => trimEvents(tx, apart, { kept: 2, after: 1 }));
    expect([gone, apart.waiting]).toEqual([3, [bad.agentId]]);
  });

  it('forgets the idempotency keys of all others', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await query(
      `INSERT INTO idempotency_key (principal, key, request_hash, response, created_at)
       SELECT p, 'k', '', 'null', now() - interval '2 days' FROM unnest($1::text[]) AS p`,
      [[one, two]],
    );
    await refuse({ table: 'idempotency_key', on: 'DELETE', when: `OLD.principal = '${one}'`, sqlstate: 'XX000' });
    await trim(trimIdempotencyKeys);
    expect(await query('SELECT principal FROM idempotency_key')).toEqual([{ principal: one }]);
  });
});

describe('a Hello', () => {
  it.each(['XX000', 'P0001', '42501', '54000', '55P03'])(
    'that is refused with %s costs no other agent its session',
    async (sqlstate) => {
      const when = `NEW.agent_id = '${bad.agentId}'`;
      await refuse({ table: 'agent_session', on: 'UPDATE', when, sqlstate });
      const agents = await Promise.all([bad, good].map(({ identity }) => TestAgent.connect(hub, identity)));
      for (const agent of agents) agent.hello();
      const [hostile, honest] = agents;
      expect(await honest?.next('Welcome')).toMatchObject({ protocolVersion: 1 });
      expect(await hostile?.waitForClose()).toBe(1012);
      honest?.close();
      await honest?.waitForClose();
    },
  );
});
