/**
 * What two hostile VIEWERs and 200 strangers cost the others, on a fleet that reports status. Measured from outside: whether the
 * hub is ready, how long its commits of status take, a dashboard of somebody else, and the memory of the hub.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import type pg from 'pg';
import type { HubProcess } from '../../tools/fleet/hub-process.ts';
import { percentile, type BenchFigure } from '../bench-row.ts';
import { startStage, type FleetStage } from '../fleet/fleet-stage.ts';
import { readUsage } from '../fleet/process-usage.ts';
import { readMetrics } from '../fleet/read-metrics.ts';
import { VIEWER_ATTACKS, type ViewerAttack } from './viewer-attacks.ts';

const CLUSTERS = 300;
const ATTACK_MS = 20_000;
const LOOK_EVERY_MS = 200;
const VIEWERS = 2;
const REQUESTS_OF_EACH = 8;
const STRANGERS = 200;
const CHANGES_PER_SECOND = 50;
/** Commits of status: P99 below 250 ms. */
const GOAL = { slowPercent: 1, notReady: 0 };
const DASHBOARD = '{ fleetHealth { total ready } redisClusters(first: 50) { nodes { id name status { phase } } } }';

export async function measureViewers(log: (line: string) => void): Promise<BenchFigure[]> {
  const stage = await startStage({ clusters: CLUSTERS, tls: 'hub', log, fileLimit: 4_096 });
  try {
    stage.simulator.tell({ do: 'dial' });
    await stage.simulator.until('in sync', ({ inSync }) => inSync === CLUSTERS, 120_000);
    const tokens = await Promise.all(Array.from({ length: VIEWERS }, () => makeViewer(stage.database)));
    stage.simulator.tell({ do: 'load', changesPerSecond: CHANGES_PER_SECOND });
    const figures = await measureOne(stage, 'nobody', async (until) => sleep(until - performance.now()));
    for (const attack of VIEWER_ATTACKS) {
      log(`two VIEWERs: ${attack.name}`);
      figures.push(
        ...(await measureOne(stage, attack.name, (until) => attackTogether(stage.hub(), tokens, { attack, until }))),
      );
    }
    return figures;
  } finally {
    await stage.stop();
  }
}

/** A token of a principal that may read everything. */
async function makeViewer(database: pg.Client): Promise<string> {
  const [principalId, token] = [randomUUID(), randomBytes(32).toString('base64url')];
  await database.query(`INSERT INTO principal (id, name, kind, created_at) VALUES ($1, $2, 'USER', now())`, [
    principalId,
    `hostile ${principalId}`,
  ]);
  await database.query(`INSERT INTO role_binding (id, principal_id, role) VALUES ($1, $2, 'VIEWER')`, [
    randomUUID(),
    principalId,
  ]);
  const hash = createHash('sha256').update(token).digest();
  await database.query('INSERT INTO api_token (id, principal_id, token_hash, created_at) VALUES ($1, $2, $3, now())', [
    randomUUID(),
    principalId,
    hash,
  ]);
  return token;
}

async function attackTogether(
  hub: HubProcess,
  tokens: readonly string[],
  { attack, until }: { readonly attack: ViewerAttack; readonly until: number },
): Promise<void> {
  let request = 0;
  const ask = (token: string): Promise<void> => post(hub, token, attack.document(request++));
  const viewers = tokens.flatMap((token) =>
    Array.from({ length: REQUESTS_OF_EACH }, () => repeat(until, () => ask(token))),
  );
  const strangers = Array.from({ length: STRANGERS }, () =>
    repeat(until, () => post(hub, randomBytes(32).toString('base64url'), '{ viewer { name } }')),
  );
  await Promise.all([...viewers, ...strangers]);
}

async function repeat(until: number, work: () => Promise<void>): Promise<void> {
  while (performance.now() < until) await work();
}

const dispatchers = new WeakMap<HubProcess, Agent>();
function dispatcherOf(hub: HubProcess): Agent {
  const known = dispatchers.get(hub);
  if (known) return known;
  const made = new Agent({ connect: { ca: readFileSync(hub.caFile, 'utf8') }, connections: null, pipelining: 1 });
  dispatchers.set(hub, made);
  return made;
}

/** What it is answered does not matter. One that is refused waits a moment, as any client would that wants to go on. */
async function post(hub: HubProcess, token: string, query: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const init = { method: 'POST', headers, body: JSON.stringify({ query }), dispatcher: dispatcherOf(hub) };
  const ok = await fetch(`${hub.apiUrl}/graphql`, init)
    .then(async (response) => (await response.arrayBuffer()) && response.ok)
    .catch(() => false);
  if (!ok) await sleep(50);
}

async function measureOne(
  stage: FleetStage,
  name: string,
  attack: (until: number) => Promise<void>,
): Promise<BenchFigure[]> {
  const hub = stage.hub();
  const before = await readCommits(hub);
  const until = performance.now() + ATTACK_MS;
  let [looks, notReady, highestMib] = [0, 0, 0];
  const dashboardMs: number[] = [];
  const look = async (): Promise<void> => {
    while (performance.now() < until) {
      looks += 1;
      notReady += Number(!(await isReady(hub)));
      highestMib = Math.max(highestMib, readUsage(hub.pid).rssMib);
      await sleep(LOOK_EVERY_MS);
    }
  };
  const watch = async (): Promise<void> => {
    while (performance.now() < until) {
      const began = performance.now();
      await hub.api.request(DASHBOARD).catch(() => undefined);
      dashboardMs.push(performance.now() - began);
      await sleep(LOOK_EVERY_MS);
    }
  };
  await Promise.all([attack(until), look(), watch()]);
  const after = await readCommits(hub);
  const commits = after.all - before.all;
  const slow = commits - (after.quick - before.quick);
  const group = `two VIEWERs and ${STRANGERS} strangers: ${name}`;
  return [
    {
      group,
      name: `of ${commits} commits of status, above 250 ms`,
      value: (100 * slow) / Math.max(1, commits),
      unit: '%',
      goal: GOAL.slowPercent,
    },
    { group, name: `not ready, of ${looks} looks`, value: notReady, unit: '', goal: GOAL.notReady },
    { group, name: 'dashboard of an administrator, P99', value: percentile(dashboardMs, 0.99), unit: 'ms' },
    { group, name: 'memory of the hub, highest', value: highestMib, unit: 'MiB' },
  ];
}

async function readCommits(hub: HubProcess): Promise<{ readonly all: number; readonly quick: number }> {
  const metrics = await readMetrics(hub);
  const read = (name: string): number => metrics.get(`atoll_hub_status_commit_seconds_${name}`) ?? 0;
  return { all: read('count'), quick: read('bucket{le="0.25"}') };
}

const isReady = (hub: HubProcess): Promise<boolean> =>
  fetch(`${hub.apiUrl}/readyz`, { dispatcher: dispatcherOf(hub), signal: AbortSignal.timeout(5_000) })
    .then(async (response) => (await response.text()) !== '' && response.ok)
    .catch(() => false);
