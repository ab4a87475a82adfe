/**
 * How long a RedisCluster at rest waits for its next look, from how many there are. A look costs four commands at each data pod and
 * some CPU, so the number of looks a second is bounded for the whole agent: up to 200 RedisClusters each is looked at
 * every 10 s, beyond that less often. Without the bound an agent's load would grow with its instances for ever.
 * Nothing urgent waits for it: a connection that breaks, a changed object and a Sentinel's message wake at once.
 */
const RESYNC_MS = 10_000;
export const LOOKS_PER_SECOND = 20;

export const resyncPauseMs = (redisClusters: number): number =>
  Math.max(RESYNC_MS, (redisClusters * 1_000) / LOOKS_PER_SECOND);
