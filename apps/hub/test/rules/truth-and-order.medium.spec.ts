import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ANNOTATION } from '#domain';
import { freezeSpec } from '#protocol';

import { changeDesired } from '../../src/features/agent-link/index.ts';
import { ChangeLogRepository } from '../../src/features/events/change-log.repository.ts';
import { systemIds } from '../../src/platform/lifecycle/time-and-ids.ts';
import type { Wanted } from '../link-fixture.ts';
import { settle, type RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start({ replicas: 2 });
});
afterAll(() => world.close());

/** A transaction of somebody else that stays open while `work` runs. */
async function during<T>(open: (tx: QueryRunner) => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const runner = world.hub.runtime.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    await open(runner);
    return await work();
  } finally {
    await runner.commitTransaction();
    await runner.release();
  }
}

const head = async (member: RuleMember): Promise<{ revision: number; digest: string }> => {
  const rows = await world.query<{ revision: number; digest: string }>(
    'SELECT revision, digest FROM agent_spec_head WHERE agent_id = $1',
    [member.agentId],
  );
  return rows[0] ?? { revision: -1, digest: '' };
};
const lastMode = (member: RuleMember): string =>
  /"mode":"(\w+)"/.exec(member.logged.findLast((line) => line.includes('welcomed')) ?? '')?.[1] ?? '';
const phase = async (wanted: Wanted): Promise<string | undefined> => (await world.status(wanted))?.phase;
const refuseWrites = (member: RuleMember, name: string): void =>
  member.kube.inject({
    when: ({ method, path }) => method === 'PATCH' && path.endsWith(`/${name}`),
    act: { kind: 'status', code: 422, reason: 'Invalid' },
    times: Infinity,
  });

describe.concurrent('truth: hubUid, hubGeneration, specHash', () => {
  it('the agent writes all three as annotations in the same apply', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    expect(member.writes()).toEqual(['PATCH cache']);
    expect((await member.find('cache'))?.metadata.annotations).toMatchObject({
      [ANNOTATION.hubUid]: wanted.hubUid,
      [ANNOTATION.hubGeneration]: '1',
      [ANNOTATION.specHash]: wanted.specHash,
    });
  });

  it('specHash is the SHA-256 of the RFC 8785 JSON as sent, stored as text', async () => {
    const member = await world.addMember();
    const spec = { size: 3, mode: 'Replication', config: { 'notify-keyspace-events': '\u00e9\u{1f600}', a: '1' } };
    const wanted = await world.deliver(member, 'cache', spec);
    const [row] = await world.query<{ spec: string }>('SELECT spec FROM resource WHERE hub_uid = $1', [wanted.hubUid]);
    const text = `{"config":{"a":"1","notify-keyspace-events":"\u00e9\u{1f600}"},"mode":"Replication","size":3}`;
    expect(row?.spec).toBe(text);
    expect((await member.find('cache'))?.metadata.annotations?.[ANNOTATION.specHash]).toBe(
      createHash('sha256').update(text, 'utf8').digest('hex'),
    );
  });

  it('digests use only these: an edit of the spec by hand changes no digest', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'cache', { mode: 'Replication', size: 2 });
    await world.untilInSync(member);
    const { digest } = await head(member);
    await member.edit('cache', { size: 5 });
    member.proxy.cut();
    await world.until(false, () => Promise.resolve(member.isConnected));
    await world.untilConnected(member);
    expect(lastMode(member)).toBe('DELTA');
    await world.untilInSync(member);
    expect((await head(member)).digest).toBe(digest);
  });
});

describe.concurrent('order: the desired revision', () => {
  it('is raised under the lock of the spec head, in the transaction that changes desired state', async () => {
    const member = await world.addMember();
    await world.deliver(member, 'first');
    const hubUid = systemIds.newId();
    const { text, hash } = freezeSpec({ mode: 'Standalone' });
    const { agentId, projectId, memberClusterId } = member.enrolled;
    let later: Promise<Wanted> | undefined;
    await during(
      async (tx) => {
        await tx.query(
          `INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
             hub_generation, spec, spec_hash, created_at, updated_at)
           VALUES ($1, $2, $3, $4, 'redis.atoll.dev/v1alpha1', 'RedisCluster', 'default', 'slow', 1, $5, $6, now(), now())`,
          [hubUid, projectId, memberClusterId, agentId, text, hash],
        );
        await changeDesired(tx.manager, agentId, hubUid, 'UPSERT');
      },
      async () => {
        later = world.want(member, 'later');
        await settle();
        // Nobody sees a revision whose predecessor is not committed.
        expect(await head(member)).toMatchObject({ revision: 1 });
        expect(await member.names()).toEqual(['first']);
      },
    );
    await later;
    await world.untilInSync(member);
    expect(await member.names()).toEqual(['first', 'later', 'slow']);
    expect(await head(member)).toMatchObject({ revision: 3 });
    const outbox = await world.query<{ revision: number }>(
      'SELECT revision FROM desired_change WHERE agent_id = $1 ORDER BY revision',
      [agentId],
    );
    expect(outbox.map((row) => row.revision)).toEqual([1, 2, 3]);
  });

  it('readers of a table with a global order never pass a lower number that commits later', async () => {
    const log = world.hub.app.get(ChangeLogRepository, { strict: false });
    const cursor = await log.end();
    const append = (
      tx: { query(sql: string, values: unknown[]): Promise<unknown> },
      subject: string,
    ): Promise<unknown> =>
      tx.query(`INSERT INTO change_log (at, topic, subject, kind) VALUES (now(), 'fleet', $1, 'CHANGED')`, [subject]);
    const [slow, quick] = [systemIds.newId(), systemIds.newId()];
    const mine = async (): Promise<string[]> => {
      const { rows } = await log.readAfter(cursor, Date.now());
      return rows.map((row) => row.subject).filter((subject) => [slow, quick].includes(subject));
    };
    await during(
      (tx) => append(tx, slow),
      async () => {
        await append(world.hub.runtime.dataSource, quick);
        expect(await mine()).toEqual([]);
      },
    );
    await world.until([slow, quick], mine);
  });

  it('a forgotten transaction ends by itself after 5 s, or it would stop every reader', async () => {
    const rows = await world.query('SHOW idle_in_transaction_session_timeout');
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
  });

  it('a hint between replicas may be lost: the poll behind it brings the change', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    // As the mutation, but for the hint.
    const { text, hash } = freezeSpec({ mode: 'Standalone', size: 1 });
    await world.query('UPDATE resource SET hub_generation = 2, spec = $2, spec_hash = $3 WHERE hub_uid = $1', [
      wanted.hubUid,
      text,
      hash,
    ]);
    await world.query(`UPDATE delivery SET hub_generation = 2, state = 'PENDING' WHERE hub_uid = $1`, [wanted.hubUid]);
    await world.query(
      `WITH head AS (UPDATE agent_spec_head SET revision = revision + 1 WHERE agent_id = $1 RETURNING revision)
       INSERT INTO desired_change (agent_id, revision, hub_uid, op) SELECT $1, revision, $2, 'UPSERT' FROM head`,
      [member.agentId, wanted.hubUid],
    );
    await world.untilDelivery(wanted, 'APPLIED');
    await world.untilInSync(member);
  });

  it('any hub replica serves any agent', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    const [, other] = world.hubs;
    if (other === undefined) throw new Error('two replicas run');
    world.route(other, member);
    member.proxy.cut();
    await world.until(other.runtime.replica, async () => (await world.session(member)).replica);
    const next = await world.revise(member, wanted, { mode: 'Standalone', size: 1 });
    await world.untilDelivery(next, 'APPLIED');
    await world.untilInSync(member);
  });
});

describe.concurrent('the applied revision', () => {
  it('rises when a revision was processed, whatever the outcome: one bad object never holds up the rest', async () => {
    const member = await world.addMember();
    refuseWrites(member, 'bad');
    const bad = await world.want(member, 'bad');
    await world.deliver(member, 'good');
    await world.untilDelivery(bad, 'REJECTED SPEC_REJECTED');
    await world.untilInSync(member);
    expect(member.link.state().appliedRevision).toBe(2);
  });

  it('the outcome of each object is in delivery, and at each Hello what is not APPLIED is sent again', async () => {
    const member = await world.addMember();
    await member.create('taken');
    const waits = await world.want(member, 'taken');
    await world.untilDelivery(waits, 'REJECTED ALREADY_EXISTS');
    await member.kill();
    // While nobody looks, the person takes theirs away: only being told again makes it ours.
    await member.remove('taken');
    member.run();
    await world.untilDelivery(waits, 'APPLIED');
    await world.untilInSync(member);
  });

  it('is kept with epoch and tombstones in a ConfigMap; when that is lost the agent says 0 and gets a snapshot', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    const gone = await world.deliver(member, 'gone');
    await world.unwant(member, gone);
    await world.untilDelivery(gone, 'GONE');
    await member.stop();
    const memory = await member.memory();
    expect(memory).toMatchObject({ hubEpoch: world.hub.runtime.identity.hubEpoch, appliedRevision: '3' });
    expect(memory['tombstones']).toContain(gone.hubUid);
    const writes = member.writes();
    await member.loseMemory();
    member.run();
    await world.untilConnected(member);
    expect(lastMode(member)).toBe('SNAPSHOT');
    await world.untilInSync(member);
    expect(member.link.state().appliedRevision).toBe(3);
    expect(member.writes()).toEqual(writes);
    expect(await world.delivery(wanted)).toBe('APPLIED');
  });
});

describe.concurrent('the spec digest', () => {
  it('covers what was written: a refused generation leaves the one before it counted', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    refuseWrites(member, 'cache');
    const refused = await world.revise(member, wanted, { mode: 'Standalone', size: 1 });
    await world.untilDelivery(refused, 'REJECTED SPEC_REJECTED');
    await world.untilInSync(member);
    expect((await member.holds())[0]).toMatchObject({ hubGeneration: 1, specHash: wanted.specHash });
    member.proxy.cut();
    await world.until(false, () => Promise.resolve(member.isConnected));
    await world.untilConnected(member);
    expect(lastMode(member)).toBe('DELTA');
  });

  it('is compared by the hub after it booked the ack: acks that are late and crossed raise no alarm', async () => {
    const member = await world.addMember();
    let wanted = await world.deliver(member, 'cache');
    member.proxy.delay(120);
    for (let size = 1; size <= 4; size += 1) wanted = await world.revise(member, wanted, { mode: 'Standalone', size });
    await world.untilDelivery(wanted, 'APPLIED');
    await world.untilInSync(member);
    member.proxy.delay(0);
    const inventories = await world.query(
      'SELECT 1 FROM agent_spec_head WHERE agent_id = $1 AND inventory_at IS NOT NULL',
      [member.agentId],
    );
    expect(inventories).toEqual([]);
  });
});

describe.concurrent('status order is (session_no, counter)', () => {
  it('nothing to persist and no clock: a restarted agent whose clock went back a year is believed', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await member.setStatus('cache', { phase: 'Creating' });
    await world.until('Creating', () => phase(wanted));
    const before = await world.status<{ session_no: number }>(wanted);
    await member.kill();
    await member.loseMemory();
    member.skewMs = -365 * 24 * 3600_000;
    await member.setStatus('cache', { phase: 'Ready' });
    member.run();
    await world.until('Ready', () => phase(wanted));
    const after = await world.status<{ session_no: number; counter: number }>(wanted);
    expect(after?.session_no).toBe((before?.session_no ?? 0) + 1);
  });
});

describe.concurrent('tables apart never wait for each other', () => {
  it.each([
    [
      'identity and labels',
      'SELECT 1 FROM agent AS a JOIN member_cluster AS m ON m.id = a.member_cluster_id WHERE a.id = $1 FOR NO KEY UPDATE',
    ],
    ['agent_seen', 'SELECT 1 FROM agent_seen WHERE agent_id = $1 FOR UPDATE'],
  ])('a lock on %s stops neither spec nor status', async (_, lock) => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await during(
      (tx) => tx.query(lock, [member.agentId]),
      async () => {
        const next = await world.revise(member, wanted, { mode: 'Standalone', size: 1 });
        await world.untilDelivery(next, 'APPLIED');
        await member.setStatus('cache', { phase: 'Ready' });
        await world.until('Ready', () => phase(wanted));
      },
    );
  });

  it('a lock on the spec head does not stop status', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await during(
      (tx) => tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [member.agentId]),
      async () => {
        await member.setStatus('cache', { phase: 'Ready' });
        await world.until('Ready', () => phase(wanted));
      },
    );
  });

  it('a lock on status does not stop spec', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache');
    await member.setStatus('cache', { phase: 'Ready' });
    await world.until('Ready', () => phase(wanted));
    await during(
      async (tx) => {
        await tx.query('SELECT 1 FROM resource_status WHERE hub_uid = $1 FOR UPDATE', [wanted.hubUid]);
        await tx.query('SELECT 1 FROM agent_status_head WHERE agent_id = $1 FOR UPDATE', [member.agentId]);
      },
      async () => {
        const next = await world.revise(member, wanted, { mode: 'Standalone', size: 1 });
        await world.untilDelivery(next, 'APPLIED');
      },
    );
    await world.untilInSync(member);
  });
});
