/** The two reads of every dashboard, over HTTPS and GraphQL as a browser makes them, one after the other. */
import { percentile } from '../bench-row.ts';
import { fleetId } from './fleet-model.ts';
import type { FleetStage } from './fleet-stage.ts';

const REPEATS = 1_500;
const WARM_UP = 30;
const LIMIT_MS = 60_000;

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

/**
 * All in turn, round after round, for longer than the slowest of what goes on beside them (heartbeats are written each 5 s):
 * asked in one burst of half a second, a query would meet such a moment or none, and its P99 would be luck.
 */
export async function measureQueries({ hub }: FleetStage): Promise<Readonly<Record<QueryName, QueryFigures>>> {
  const { api } = hub();
  const samples = Object.entries(QUERIES).map(([name, query]) => ({ name, query, tookMs: [] as number[] }));
  const until = performance.now() + LIMIT_MS;
  for (let round = 0; round < WARM_UP + REPEATS && performance.now() < until; round += 1) {
    for (const { query, tookMs } of samples) {
      const began = performance.now();
      await api.request(query);
      if (round >= WARM_UP) tookMs.push(performance.now() - began);
    }
  }
  const figures = samples.map(({ name, tookMs }) => [
    name,
    { p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99), repeats: tookMs.length },
  ]);
  return Object.fromEntries(figures) as Record<QueryName, QueryFigures>;
}
