/**
 * What the bench `fleet` is made of, on twenty member clusters and a hub of this process: the seeded fleet is one that the
 * hub finds nothing amiss with, every measured request is answered, and a hub that starts again has all agents proven
 * in sync by one frame each. Nothing here is timed.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { claimPort } from '#testing';
import { FleetChanger } from '../../../bench/fleet/measure-change.ts';
import { QUERIES } from '../../../bench/fleet/measure-queries.ts';
import { CLUSTERS_PER_AGENT } from '../../../bench/fleet/fleet-model.ts';
import { seedFleet } from '../../../bench/fleet/seed-fleet.ts';
import type { SimulatorReport } from '../../../bench/fleet/simulator/messages.ts';
import { monotonicMs } from '../../../bench/fleet/simulator/messages.ts';
import { SimulatedFleet } from '../../../bench/fleet/simulator/simulated-fleet.ts';
import { GraphqlClient } from '../../../tools/fleet/graphql-client.ts';
import { parseHubConfig } from '../src/platform/config/hub-config.ts';
import { type RunningHub, startHub } from '../src/start-hub.ts';
import { createTestDatabase } from './start-test-hub.ts';

const AGENTS = 20;

let dataDir: string;
let hub: RunningHub;
let fleet: SimulatedFleet;
let api: GraphqlClient;
const applied = new Map<string, (atMs: number) => void>();

async function start(databaseUrl: string, agentPort: number): Promise<RunningHub> {
  return startHub({
    ...parseHubConfig({}),
    databaseUrl,
    dataDir,
    environment: 'development',
    listenAddress: '127.0.0.1',
    apiPort: 0,
    agentPort,
    metrics: { address: '127.0.0.1', port: 0 },
    logLevel: 'silent',
    replicaName: 'bench',
  });
}

async function until(what: string, holds: (report: SimulatorReport) => boolean): Promise<SimulatorReport> {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(50)) {
    const report = fleet.report();
    if (holds(report)) return report;
  }
  throw new Error(`never ${what}: ${JSON.stringify(fleet.report())}`);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'atoll-hub-'));
  hub = await start(await createTestDatabase(), await claimPort());
  const { ready } = hub;
  const settings = { fromAgent: 0, toAgent: AGENTS, hubAddress: ready.agentAddress };
  const hubEpoch = await seedFleet(ready.databaseUrl, AGENTS);
  const caPem = await readFile(ready.caFile, 'utf8');
  fleet = new SimulatedFleet({ ...settings, caPem, hubEpoch }, (hubUid, generation) =>
    applied.get(`${hubUid} ${generation}`)?.(monotonicMs()),
  );
  const token = (await readFile(ready.adminTokenFile, 'utf8')).trim();
  api = new GraphqlClient({ url: `${ready.apiUrl}/graphql`, caFile: ready.caFile, token });
});
afterAll(async () => {
  fleet.stop();
  await api.close();
  await hub.close();
  await rm(dataDir, { recursive: true, force: true });
});

it('has a seeded fleet in sync by its status digests alone', async () => {
  fleet.dial();
  const report = await until('in sync', ({ inSync }) => inSync === AGENTS);
  expect(report).toMatchObject({ welcomesByMode: { DELTA: AGENTS }, statusResumed: AGENTS, statusItemsAcked: 0 });
  expect(report.failures).toEqual({});
});

it('answers what the bench asks', async () => {
  for (const query of Object.values(QUERIES)) expect(Object.keys(await api.request<object>(query))).toHaveLength(1);
});

it('applies a change, and takes status that changes without a pause', async () => {
  const simulator = {
    applied: (hubUid: string, generation: number) =>
      new Promise<number>((done) => applied.set(`${hubUid} ${generation}`, done)),
  };
  const changer = new FleetChanger({ clusters: AGENTS, simulator, hub: () => ({ api }) });
  expect(await changer.changeOne()).toBeGreaterThan(0);
  fleet.flood(2);
  await until('many batches were acked', ({ statusItemsAcked }) => statusItemsAcked >= 4 * CLUSTERS_PER_AGENT);
  fleet.flood(0);
  await until('through', ({ statusItemsWaiting }) => statusItemsWaiting === 0);
});

it('has all of them proven in sync again by a hub that starts anew', async () => {
  const { databaseUrl, agentAddress } = hub.ready;
  await hub.close();
  await until('alone', ({ welcomed }) => welcomed === 0);
  fleet.reset();
  hub = await start(databaseUrl, Number(agentAddress.split(':')[1]));
  const report = await until('in sync', ({ inSync }) => inSync === AGENTS);
  expect(report).toMatchObject({ welcomesByMode: { DELTA: AGENTS }, statusResumed: AGENTS });
});
