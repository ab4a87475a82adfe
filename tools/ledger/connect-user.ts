import { Redis } from 'ioredis';
import { ADVISED_CLIENT, ADVISED_SENTINEL_CLIENT } from '../fleet/advised-client.ts';
import { readServiceAddress, type Connection, type LedgerTarget } from './watch-members.ts';

/** A client as our documentation advises: by way of Sentinel, or of the primary's Service where there is none. */
export async function connectUser(target: LedgerTarget, connection: Connection): Promise<Redis> {
  const { username, password, masterName, sentinelPort, port } = connection;
  const common = { ...ADVISED_CLIENT, username, password };
  const redis =
    masterName === ''
      ? new Redis({ ...common, host: await readServiceAddress(target, target.name), port })
      : new Redis({
          ...common,
          ...ADVISED_SENTINEL_CLIENT,
          sentinels: [{ host: await readServiceAddress(target, `${target.name}-sentinel`), port: sentinelPort }],
          name: masterName,
          sentinelUsername: username,
          sentinelPassword: password,
        });
  redis.on('error', () => undefined); // what matters is which writes are answered
  return redis;
}
