/**
 * What an agent with a valid key may report, and what PostgreSQL may refuse of it: none of it may stop the status, the events or
 * the counts of the other agents. One frame of one member cluster would else blind the hub to the whole fleet.
 */
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import { digestOf, type EventItem, type StatusItem } from '#protocol';

import { type Enrolled, enrolAgent, openSession, readDelivery, want, type Wanted } from '../link-fixture.ts';
import { raiseFor, type Refusal, SQLSTATES, SQLSTATES_OF_OTHERS } from '../raise-for.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import type { TestAgent } from '../test-agent.ts';
import { WAIT } from '../wait.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

const query = <T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  hub.runtime.dataSource.query<T[]>(sql, [...values]);

/** 512 characters, 2,048 bytes, that PostgreSQL does not get any smaller. */
const WIDE = Array.from({ length: 512 }, () => String.fromCodePoint(0x10000 + randomInt(0x100000))).join('');

/** 512 characters of JavaScript, 1,536 bytes: the longest that release 0.1.0 took; two of them do not fit an index row. */
const LONGEST = Array.from({ length: 512 }, () => String.fromCodePoint(0x4e00 + randomInt(0x5000))).join('');

/** One agent in a session, with one object that it has applied. */
class Side {
  counter = 0;

  private constructor(
    readonly enrolled: Enrolled,
    readonly agent: TestAgent,
    readonly wanted: Wanted,
    readonly heartbeat: NodeJS.Timeout,
  ) {}

  static async start(): Promise<Side> {
    const enrolled = await enrolAgent(hub);
    const { agent } = await openSession(hub, enrolled);
    const wanted = await want(hub, enrolled, 'cache');
    const { revision } = await agent.next('Delta');
    agent.send('DesiredAck', { revision, outcomes: [{ ...wanted, state: 'APPLIED' }], digest: digestOf([wanted]) });
    await vi.waitFor(
      async () => expect(await readDelivery(hub, wanted.hubUid)).toMatchObject({ state: 'APPLIED' }),
      WAIT,
    );
    const heartbeat = setInterval(() => agent.send('Heartbeat', { inventory: 'SYNCED' }), 5_000);
    return new Side(enrolled, agent, wanted, heartbeat);
  }

  close(): void {
    clearInterval(this.heartbeat);
    this.agent.close();
  }

  itemOf(rest: Partial<StatusItem> = {}): StatusItem {
    const { hubUid, hubGeneration } = this.wanted;
    const empty = { conditions: [], pods: [], foreignFields: [] };
    const named = { namespace: 'default', name: 'cache', uid: 'uid', kind: 'RedisCluster' };
    return { hubUid, observedHubGeneration: hubGeneration, ...named, ...empty, ...rest };
  }

  send(...items: readonly StatusItem[]): number {
    this.agent.send('StatusBatch', { counter: this.counter, items });
    this.counter += 1;
    return this.counter - 1;
  }

  async tell(...items: readonly StatusItem[]): Promise<void> {
    await this.waitForAck(this.send(...items));
  }

  /** Acks come in the order of their batches. */
  async waitForAck(counter: number): Promise<void> {
    while ((await this.agent.next('StatusAck')).counter < counter);
  }

  async phase(): Promise<string | null | undefined> {
    const sql = 'SELECT phase FROM resource_status WHERE hub_uid = $1';
    return (await query<{ phase: string | null }>(sql, [this.wanted.hubUid]))[0]?.phase;
  }

  /** What is shown of its object is not its last status, and says so. */
  async isUnstored(): Promise<boolean> {
    return (await query('SELECT 1 FROM status_unstored WHERE hub_uid = $1', [this.wanted.hubUid])).length > 0;
  }

  /** Its status is stored, acked and counted. */
  async expectFlow(): Promise<void> {
    const phase = `Phase${(phases += 1)}`;
    await this.tell(this.itemOf({ phase }));
    expect(await this.phase()).toBe(phase);
    const counted = (): Promise<unknown[]> =>
      query('SELECT phase FROM region_rollup WHERE project_id = $1 AND total = 1', [this.enrolled.projectId]);
    await vi.waitFor(async () => expect(await counted()).toEqual([{ phase }]), WAIT);
  }

  async tellEvents(...messages: readonly string[]): Promise<void> {
    this.sendEvents(...messages);
    await this.agent.next('EventAck');
  }

  sendEvents(...messages: readonly string[]): void {
    const now = new Date().toISOString();
    const about = { hubUid: this.wanted.hubUid, namespace: 'default', name: 'cache', first: now, last: now, count: 1 };
    const items = messages.map((message): EventItem => ({ ...about, severity: 'Normal', reason: 'Told', message }));
    this.agent.send('EventBatch', { counter: 0, items });
  }

  async events(): Promise<readonly string[]> {
    const sql = `SELECT message FROM event WHERE agent_id = $1 AND reason = 'Told' ORDER BY message`;
    return (await query<{ message: string }>(sql, [this.enrolled.agentId])).map(({ message }) => message);
  }
}
let phases = 0;

let [hostile, honest]: Side[] = [];
const sides = (): { readonly hostile: Side; readonly honest: Side } => {
  if (hostile === undefined || honest === undefined) throw new Error('the sides are not there yet');
  return { hostile, honest };
};
beforeAll(async () => {
  hostile = await Side.start();
  honest = await Side.start();
  return () => [hostile, honest].forEach((side) => side?.close());
});
/** Ends with the test. */
async function refuse(refusal: Refusal): Promise<() => Promise<void>> {
  const end = await raiseFor(hub.runtime.dataSource, refusal);
  onTestFinished(end);
  return end;
}

describe('a status frame with texts of 512 characters', () => {
  it.each<[string, Partial<StatusItem>]>([
    [
      'all of them, as release 0.1.0 took them',
      { name: LONGEST, kind: LONGEST, phase: LONGEST, mode: LONGEST, engineVersion: LONGEST },
    ],
    ['phase, mode and version, as release 0.1.0 took them', { phase: LONGEST, mode: LONGEST, engineVersion: LONGEST }],
    ['all of them', { name: WIDE, kind: WIDE, phase: WIDE, mode: WIDE, engineVersion: WIDE }],
    ['name and kind', { name: WIDE, kind: WIDE }],
    ['namespace', { namespace: WIDE }],
    ['phase', { phase: WIDE }],
    ['mode and version', { mode: WIDE, engineVersion: WIDE }],
  ])('in %s is acked, told to people, and costs no other agent anything', async (_, fields) => {
    const { hostile, honest } = sides();
    const { hubUid: _uid, ...local } = hostile.itemOf({ name: 'made-by-hand', ...fields });
    const counter = hostile.send(hostile.itemOf(fields), local, hostile.itemOf({ phase: 'Ready', name: 'other' }));
    await honest.expectFlow();
    await hostile.waitForAck(counter);
    const names = await query<{ name: string }>('SELECT name FROM local_object WHERE agent_id = $1', [
      hostile.enrolled.agentId,
    ]);
    expect(names).toContainEqual({ name: 'other' });
    const told = await query(`SELECT 1 FROM event WHERE agent_id = $1 AND reason = 'Unreadable'`, [
      hostile.enrolled.agentId,
    ]);
    expect(told.length).toBeGreaterThan(0);
    expect(hostile.agent.closeCode).toBeUndefined();
  });

  it('that fits the counts of an agent and not those of its region leaves the counts of all others', async () => {
    const { hostile, honest } = sides();
    await query('UPDATE member_cluster SET region = $2 WHERE id = $1', [
      hostile.enrolled.memberClusterId,
      WIDE.slice(0, 32),
    ]);
    const word = WIDE.slice(0, 2 * 220);
    await hostile.tell(hostile.itemOf({ phase: word, mode: word, engineVersion: word }));
    await honest.expectFlow();
    await hostile.expectFlow();
  });
});

describe('a status that PostgreSQL refuses', () => {
  it.each([...SQLSTATES, ...SQLSTATES_OF_OTHERS])('with %s stops nobody else', async (sqlstate) => {
    const { hostile, honest } = sides();
    const when = `NEW.hub_uid = '${hostile.wanted.hubUid}'`;
    const end = await refuse({
      table: 'resource_status',
      on: 'INSERT OR UPDATE',
      when,
      sqlstate,
    });
    const counter = hostile.send(
      hostile.itemOf({ phase: 'Refused' }),
      hostile.itemOf({ name: `by-hand-${sqlstate.toLowerCase()}` }),
    );
    await honest.expectFlow();
    await vi.waitFor(async () => expect(await hostile.isUnstored()).toBe(true), WAIT);
    expect(await honest.isUnstored()).toBe(false);
    await end();
    await hostile.waitForAck(counter);
    await hostile.expectFlow();
    expect(await hostile.isUnstored()).toBe(false);
  });

  it('does not cost the other objects of its agent anything', async () => {
    const { hostile } = sides();
    const when = `NEW.hub_uid = '${hostile.wanted.hubUid}'`;
    const refusal = { table: 'resource_status', on: 'INSERT OR UPDATE', when, sqlstate: 'XX000' } as const;
    await refuse(refusal);
    const locals = ['first', 'second', 'third'].map((name) => hostile.itemOf({ name }));
    await hostile.tell(...locals.slice(0, 2), hostile.itemOf({ phase: 'Refused' }), ...locals.slice(2));
    const stored = await query(
      `SELECT name FROM local_object WHERE agent_id = $1 AND name IN ('first', 'second', 'third') ORDER BY name`,
      [hostile.enrolled.agentId],
    );
    expect(stored).toEqual([{ name: 'first' }, { name: 'second' }, { name: 'third' }]);
    expect(await hostile.phase()).not.toBe('Refused');
  });
});

it('a status that cannot be read as that of its object leaves it not FRESH until one can be', async () => {
  const { hostile } = sides();
  await hostile.tell(hostile.itemOf({ uid: WIDE }));
  await vi.waitFor(async () => expect(await hostile.isUnstored()).toBe(true), WAIT);
  await hostile.expectFlow();
  expect(await hostile.isUnstored()).toBe(false);
});

describe('an event that PostgreSQL refuses', () => {
  it.each(['22P05', '42P01', '54000', 'P0001', 'XX000'])(
    'with %s is left out alone, and stops nobody else',
    async (sqlstate) => {
      const { hostile, honest } = sides();
      await refuse({
        table: 'event',
        on: 'INSERT',
        when: `NEW.message LIKE 'refused%'`,
        sqlstate,
      });
      hostile.sendEvents(`${sqlstate} a`, `refused ${sqlstate}`, `${sqlstate} b`);
      await honest.tellEvents(`${sqlstate} c`);
      await hostile.agent.next('EventAck');
      expect(await honest.events()).toContain(`${sqlstate} c`);
      const stored = await hostile.events();
      expect(stored.filter((message) => message.includes(sqlstate))).toEqual([`${sqlstate} a`, `${sqlstate} b`]);
    },
  );
});
