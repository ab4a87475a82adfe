import { Redis } from 'ioredis';
import { readServiceAddress, type Connection, type LedgerTarget } from './watch-members.ts';

const RESEND = 2 as const;

/**
 * A client as our documentation advises: by way of Sentinel, or of the primary's Service where there is none. A READONLY
 * answer makes it look for the primary again and resend; `failoverDetector` stays off, because with it ioredis can end for good.
 */
export async function connectUser(target: LedgerTarget, connection: Connection): Promise<Redis> {
  const { username, password, masterName, sentinelPort, port } = connection;
  const common = {
    username,
    password,
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? RESEND : false),
    retryStrategy: () => 50,
    connectTimeout: 1_000,
    failoverDetector: false,
  };
  const redis =
    masterName === ''
      ? new Redis({ ...common, host: await readServiceAddress(target, target.name), port })
      : new Redis({
          ...common,
          sentinels: [{ host: await readServiceAddress(target, `${target.name}-sentinel`), port: sentinelPort }],
          name: masterName,
          sentinelUsername: username,
          sentinelPassword: password,
          sentinelRetryStrategy: () => 50,
        });
  redis.on('error', () => undefined); // what matters is which writes are answered
  return redis;
}
