/**
 * Seeded lives of the whole machine that carries desired state: the hub's real sessions and repositories on PostgreSQL, the
 * agent's real session, state and snapshots on an API server in memory. SEED (first seed) and RUNS (how many) widen it:
 * `SEED=1000 RUNS=2000 vitest run -c vitest.medium.config.ts apps/hub/test/machine`. A failing seed prints its steps.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { enrol, type Enrolled } from '../link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { MachineHub } from './machine-hub.ts';
import type { MachineLedger } from './machine-ledger.ts';
import { compareWithReference } from './machine-reference.ts';
import { MachineRun } from './machine-run.ts';
import { begin, step } from './machine-steps.ts';
import { holdIntervals, MachineTimers } from './machine-timers.ts';
import { MachineUser } from './machine-user.ts';

const FIRST_SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['RUNS'] ?? 200);
const STEPS = 36;
const SEEDS_PER_TEST = 50;
/** Runs wait for PostgreSQL most of the time; each has its own agent, so that they do not see each other. */
const AT_ONCE = 6;

let hub: TestHub;
let projectId: string;
let letGo: () => void;
const seen: MachineLedger['seen'][] = [];

beforeAll(async () => {
  // What is tested is order, not what survives a power cut of the database.
  const databaseUrl = `${await createTestDatabase()}&options=${encodeURIComponent('-c synchronous_commit=off')}`;
  hub = await startTestHub(databaseUrl);
  projectId = randomUUID();
  await hub.runtime.dataSource.query(`INSERT INTO project (id, name, created_at) VALUES ($1, 'machine', now())`, [
    projectId,
  ]);
});
afterAll(() => hub.close());
// The agent's sessions look and retry by intervals; a run says itself when time passes.
beforeAll(() => void (letGo = holdIntervals()));
afterAll(() => letGo());

async function prepare(seed: number, timers: MachineTimers): Promise<MachineRun> {
  const { agentId, memberClusterId } = await enrol(hub);
  await hub.runtime.dataSource.query(`UPDATE agent SET state = 'ACTIVE' WHERE id = $1`, [agentId]);
  const enrolled: Omit<Enrolled, 'identity'> = { agentId, memberClusterId, projectId };
  // Every second hub holds nothing back: then the agent's own limit has to do.
  const perAgent = seed % 2 === 0 ? 3 : 1_000_000;
  return new MachineRun(
    seed,
    (facts) => new MachineHub(hub.runtime.dataSource, agentId, perAgent, facts),
    new MachineUser(hub, enrolled as Enrolled),
    timers,
  );
}

async function play(seed: number, timers: MachineTimers): Promise<void> {
  const run = await prepare(seed, timers);
  try {
    await begin(run);
    for (let count = 0; count < STEPS; count += 1) {
      await step(run);
      await run.check();
    }
    run.note('everybody is well again');
    await run.comeToRest();
    expect(await compareWithReference(run)).toEqual([]);
    seen.push(run.ledger.seen);
  } catch (error) {
    const story = run.steps.map((line, index) => `${String(index + 1).padStart(4)}  ${line}`).join('\n');
    throw new Error(`seed ${seed}: ${String(error)}\n${story}\nrepeat it: SEED=${seed} RUNS=1`, { cause: error });
  } finally {
    await run.end();
  }
}

const starts = Array.from({ length: Math.ceil(RUNS / SEEDS_PER_TEST) }, (_, at) => FIRST_SEED + at * SEEDS_PER_TEST);

it.each(starts)(
  'keeps its promises over any order of messages and faults, seeds from %i',
  { timeout: 600_000 },
  async (first) => {
    const end = Math.min(first + SEEDS_PER_TEST, FIRST_SEED + RUNS);
    let seed = first;
    const playOn = async (): Promise<void> => {
      while (seed < end) {
        const timers = new MachineTimers();
        const mine = (seed += 1) - 1;
        await timers.run(() => play(mine, timers));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, playOn));
  },
);

it.runIf(RUNS >= 100)('has met in these lives what it is about', () => {
  const names = ['refusedDelete', 'mass', 'putBack', 'heldByRestore', 'lateAck', 'overtaken', 'exchanged'] as const;
  const counts = names.map((name) => [name, seen.reduce((sum, one) => sum + one[name], 0)] as const);
  expect(counts.filter(([, count]) => count < 5)).toEqual([]);
});
