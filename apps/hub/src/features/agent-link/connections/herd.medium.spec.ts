import { addToDigest, EMPTY_DIGEST, type StatusItem } from '#protocol';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { type Enrolled, enrolAgent, openSession, revise, want, type Wanted } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import type { TestAgent } from '../../../../test/test-agent.ts';

const AGENTS = 12;
const OBJECTS = 5;

let a: TestHub;
let b: TestHub;
beforeAll(async () => {
  const url = await createTestDatabase();
  a = await startTestHub(url);
  b = await startTestHub(url, { like: a });
});
afterAll(async () => {
  await b.close();
  await a.close();
});

/** Acks whatever comes and reports the status of all it holds after each ack, as a busy agent does. */
async function serve(agent: TestAgent, stop: AbortSignal): Promise<void> {
  const held = new Map<string, Wanted & { readonly name: string }>();
  let counter = 0;
  while (!stop.aborted) {
    const delta = await agent.next('Delta', 200).catch(() => undefined);
    if (!delta) continue;
    for (const { hubUid, hubGeneration, specHash, name } of delta.upserts)
      held.set(hubUid, { hubUid, hubGeneration, specHash, name });
    const outcomes = delta.upserts.map((one) => ({
      hubUid: one.hubUid,
      hubGeneration: one.hubGeneration,
      state: 'APPLIED' as const,
    }));
    const digest = [...held.values()].reduce(addToDigest, EMPTY_DIGEST);
    agent.send('DesiredAck', { revision: delta.revision, outcomes, digest });
    const items = [...held.values()].map((one): StatusItem => ({
      hubUid: one.hubUid,
      observedHubGeneration: one.hubGeneration,
      namespace: 'default',
      name: one.name,
      uid: one.hubUid,
      kind: 'RedisCluster',
      phase: 'Ready',
      conditions: [],
      pods: [],
      foreignFields: [],
    }));
    agent.send('StatusBatch', { counter, items });
    counter += 1;
  }
}

async function work(hub: TestHub, enrolled: Enrolled): Promise<void> {
  await Promise.all(
    Array.from({ length: OBJECTS }, async (_, index) => {
      let wanted = await want(hub, enrolled, `cache-${index}`);
      for (const size of [1, 2, 3]) wanted = await revise(hub, enrolled, wanted, { size });
    }),
  );
}

it('many agents on two replicas end in sync while all of it changes at once', { timeout: 60_000 }, async () => {
  const stop = new AbortController();
  const fleet = [];
  for (let index = 0; index < AGENTS; index += 1) {
    const enrolled = await enrolAgent(a);
    const { agent } = await openSession(index % 2 === 0 ? a : b, enrolled);
    fleet.push({ enrolled, agent, served: serve(agent, stop.signal) });
  }
  await Promise.all(fleet.map(({ enrolled }, index) => work(index % 3 === 0 ? a : b, enrolled)));
  const read = (): Promise<unknown> =>
    a.runtime.dataSource.query(
      `SELECT count(*) FILTER (WHERE d.state = 'APPLIED') AS applied, count(*) FILTER (WHERE s.phase = 'Ready') AS ready,
         (SELECT sum(count)::int FROM agent_rollup WHERE phase = 'Ready') AS counted,
         (SELECT bool_or(inventory_needed) FROM agent_spec_head) AS disagreed
       FROM delivery AS d LEFT JOIN resource_status AS s ON s.hub_uid = d.hub_uid`,
    );
  const all = AGENTS * OBJECTS;
  await vi.waitFor(
    async () => expect(await read()).toEqual([{ applied: all, ready: all, counted: all, disagreed: false }]),
    {
      timeout: 20_000,
      interval: 200,
    },
  );
  for (const { agent } of fleet) expect([agent.closeCode, agent.pending('Reconnect')]).toEqual([undefined, 0]);
  stop.abort();
  await Promise.all(fleet.map(({ served }) => served));
  for (const { agent } of fleet) agent.close();
});
