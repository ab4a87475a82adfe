import type { RedisOptions } from 'ioredis';

const RESEND = 2 as const;

/**
 * What docs/how-to/connect-a-client.md advises for ioredis, for whatever here connects as an application does. The
 * defaults wait 10 s for an address that is gone and up to 2 s between attempts, which made 41 to 167 s of gaps of some
 * seconds.
 */
export const ADVISED_CLIENT = {
  // A node that has just become a replica, or a Sentinel that lags: look for the primary again and send once more.
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? RESEND : false),
  connectTimeout: 1_000,
  retryStrategy: () => 50,
  // With it ioredis can end for good.
  failoverDetector: false,
} satisfies RedisOptions;

/** The same towards Sentinels. */
export const ADVISED_SENTINEL_CLIENT = { sentinelRetryStrategy: () => 50 } satisfies RedisOptions;
