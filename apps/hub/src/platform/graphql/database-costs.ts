/**
 * What a field adds to the cost of a query because its resolver asks the database on its own, beside the fields that it
 * answers: about a twentieth of a millisecond of the database each, in a large place. Fields that are read together for the whole
 * answer (DataLoaders) add nothing. Without it a request of a few kilobytes could ask for hundreds of counts over the whole
 * fleet, by aliases. A root field that is missing here costs as much as the dearest page, and a test fails for it.
 */
import { ownValue } from '#domain';

const UNDECLARED = 100;

/** By `Type.field`, or `*.field` for that of every type. */
const DATABASE_COSTS: Readonly<Record<string, number>> = {
  // Counts grow with the fleet.
  '*.totalCount': 1_000,
  'Query.hub': 0,
  'Query.viewer': 0,
  'Query.audit': 100,
  'Query.events': 50,
  'Query.fleetHealth': 100,
  'Query.localObjects': 100,
  'Query.memberCluster': 20,
  'Query.memberClusters': 20,
  'Query.node': 20,
  // Of each id: each is found by itself.
  'Query.nodes': 20,
  'Query.projects': 20,
  'Query.redisCluster': 20,
  'Query.redisClusters': 50,
  // A transaction with its audit row.
  'Mutation.*': 100,
  'Subscription.*': 100,
};
/** Looks through all RedisClusters for those of one sync state. */
const SYNC_FILTER = 1_000;

/** For the test over the whole schema. */
export const isPriced = (parent: string, field: string): boolean => Object.hasOwn(DATABASE_COSTS, `${parent}.${field}`);

export function databaseCostOf(parent: string, field: string, readFilter: () => unknown): number {
  const declared =
    ownValue(DATABASE_COSTS, `${parent}.${field}`) ??
    ownValue(DATABASE_COSTS, `${parent}.*`) ??
    ownValue(DATABASE_COSTS, `*.${field}`);
  const cost = declared ?? (parent === 'Query' ? UNDECLARED : 0);
  return `${parent}.${field}` === 'Query.redisClusters' && filtersBySync(readFilter()) ? cost + SYNC_FILTER : cost;
}

/** True also where the filter is not known here. */
function filtersBySync(filter: unknown): boolean {
  if (typeof filter !== 'object' || filter === null) return typeof filter === 'symbol';
  return (filter as { sync?: unknown }).sync !== undefined && (filter as { sync?: unknown }).sync !== null;
}
