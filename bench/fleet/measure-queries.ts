/** The two reads of every dashboard, over HTTPS and GraphQL as a browser makes them, one after the other. */
import { percentile } from '../bench-row.ts';
import { fleetId } from './fleet-model.ts';
import type { FleetStage } from './fleet-stage.ts';

const REPEATS = 300;
const WARM_UP = 30;
const LIMIT_MS = 15_000;

const PAGE = `edges { node { id name namespace generation delivery { state sync } status { phase readyPods ageSeconds freshness } } }
  pageInfo { hasNextPage endCursor }`;
const HEALTH = `total ready degraded unknown foldedAt groups { key total ready degraded unknown }`;
const globalId = (type: string, key: string): string => Buffer.from(`${type}:${key}`).toString('base64url');

/** By name: what is asked. The lists are first pages of 50. */
export const QUERIES = {
  fleetHealth: `{ fleetHealth { ${HEALTH} } }`,
  'fleetHealth by region and phase': `{ fleetHealth(groupBy: [REGION, PHASE]) { ${HEALTH} } }`,
  'list, phase Degraded': `{ redisClusters(filter: { phase: DEGRADED }) { ${PAGE} } }`,
  'list, one project and mode': `{ redisClusters(filter: { projectId: "${globalId('Project', fleetId('project', 7))}", mode: REPLICATION }) { ${PAGE} } }`,
  'list, one name': `{ redisClusters(filter: { name: "cache-9" }) { ${PAGE} } }`,
  'list, out of sync': `{ redisClusters(filter: { sync: PENDING }) { ${PAGE} } }`,
} as const;
export type QueryName = keyof typeof QUERIES;

export interface QueryFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly repeats: number;
}

export async function measureQueries(stage: FleetStage): Promise<Readonly<Record<QueryName, QueryFigures>>> {
  const entries: [string, QueryFigures][] = [];
  for (const [name, query] of Object.entries(QUERIES)) entries.push([name, await measureQuery(stage, query)]);
  return Object.fromEntries(entries) as Record<QueryName, QueryFigures>;
}

async function measureQuery(stage: FleetStage, query: string): Promise<QueryFigures> {
  const { api } = stage.hub();
  const samples: number[] = [];
  const until = performance.now() + LIMIT_MS;
  for (let round = 0; round < WARM_UP + REPEATS && performance.now() < until; round += 1) {
    const began = performance.now();
    await api.request(query);
    if (round >= WARM_UP || performance.now() > until) samples.push(performance.now() - began);
  }
  return { p50Ms: percentile(samples, 0.5), p99Ms: percentile(samples, 0.99), repeats: samples.length };
}
