/**
 * The one gate every command passes before it is sent. Decides from the command's words alone whether this product
 * ever sends it. Invariant: a command that can erase data or change a topology behind the planner's back is never
 * sent, whatever a caller asks. Without it one wrong line anywhere could empty a customer's Redis (04, Never 1).
 * It is a list of what is allowed: a command that nobody thought of is refused.
 */
import { ownValue } from '#domain';

const ALLOWED: Readonly<Record<string, readonly string[] | 'any'>> = {
  PING: 'any',
  INFO: 'any',
  ROLE: 'any',
  CONFIG: ['GET', 'SET'],
  CLIENT: ['PAUSE', 'UNPAUSE', 'LIST', 'KILL', 'SETNAME'],
  LATENCY: ['LATEST'],
  SLOWLOG: ['LEN'],
  REPLICAOF: 'any',
  ACL: ['LIST', 'SETUSER', 'SAVE', 'WHOAMI', 'DELUSER'],
  FAILOVER: ['TO', 'ABORT'],
  BGSAVE: 'any',
  SUBSCRIBE: 'any',
  SENTINEL: [
    'MYID',
    'MASTER',
    'MASTERS',
    'REPLICAS',
    'SENTINELS',
    'CKQUORUM',
    'MONITOR',
    'SET',
    'REMOVE',
    'RESET',
    'GET-MASTER-ADDR-BY-NAME',
    'FAILOVER',
    'DEBUG',
    'CONFIG',
  ],
};

/** Said in the error, so that a refusal explains itself. */
const FORBIDDEN_BECAUSE: Readonly<Record<string, string>> = {
  FLUSHALL: 'erases every key',
  FLUSHDB: 'erases every key of a database',
  SWAPDB: 'exchanges databases under the clients',
  SHUTDOWN: 'stops the server; pods are stopped through Kubernetes',
  DEBUG: 'can crash the server',
  CLUSTER: 'belongs to Cluster mode',
};

const PLAIN_NAME = /^[a-z0-9.-]+$/;

export type RedisCommand = readonly [name: string, ...args: string[]];

export class ForbiddenCommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ForbiddenCommandError';
  }
}

/** Throws ForbiddenCommandError, which names the command but none of its arguments, unless the command is allowed. */
export const assertCommandAllowed = (command: RedisCommand): void => {
  const name = command[0].toUpperCase();
  const allowed = listAllowed(name);
  if (allowed === 'any') return;
  const subcommand = command[1]?.toUpperCase() ?? '';
  if (!allowed.includes(subcommand)) {
    throw new ForbiddenCommandError(`${name} ${subcommand} is never sent: it is not in the list.`);
  }
  assertHarmless(name, subcommand, command);
};

const assertHarmless = (name: string, subcommand: string, command: RedisCommand): void => {
  if (name === 'FAILOVER') assertBoundedFailover(command);
  if (name === 'SENTINEL') assertHarmlessToSentinel(subcommand, command[2] ?? '', command[3] ?? '');
  if (name === 'ACL' && subcommand === 'DELUSER') assertOthersUsers(command.slice(2));
};

const listAllowed = (name: string): readonly string[] | 'any' => {
  const allowed = ownValue(ALLOWED, name);
  if (allowed !== undefined) return allowed;
  const reason = ownValue(FORBIDDEN_BECAUSE, name);
  const because = reason === undefined ? 'it is not in the list' : `it ${reason}`;
  throw new ForbiddenCommandError(`${name} is never sent: ${because}.`);
};

/** Without one of these nobody gets in any more: the operator, the replicas, the Sentinels, the clients. */
const NEEDED_USERS = new Set(['default', 'atoll', 'replication', 'sentinel', 'app']);

const assertOthersUsers = (users: readonly string[]): void => {
  const needed = users.find((user) => NEEDED_USERS.has(user));
  if (needed !== undefined) throw new ForbiddenCommandError(`ACL DELUSER is never sent for ${needed}.`);
};

/** The Sentinels' own login only: announced addresses and host names belong to the entrypoint. */
const SENTINEL_CONFIG = /^(get|set) sentinel-(user|pass)$/i;

const assertHarmlessToSentinel = (subcommand: string, argument: string, name: string): void => {
  if (subcommand === 'CONFIG' && !SENTINEL_CONFIG.test(`${argument} ${name}`)) {
    throw new ForbiddenCommandError('SENTINEL CONFIG is only sent for sentinel-user and sentinel-pass.');
  }
  if (subcommand === 'RESET' || subcommand === 'FAILOVER') assertPlainName(subcommand, argument);
  if (subcommand === 'DEBUG' && argument.toUpperCase() !== 'INFO-PERIOD') {
    throw new ForbiddenCommandError('SENTINEL DEBUG is only sent for INFO-PERIOD.');
  }
};

/** FAILOVER hands over only what the target has: with FORCE it would not wait, and without TIMEOUT it would wait for ever. */
const assertBoundedFailover = (command: RedisCommand): void => {
  const words = command.map((word) => word.toUpperCase());
  const bounded = words.length === 6 && words[4] === 'TIMEOUT' && /^[1-9]\d*$/.test(words[5] ?? '');
  if ((words[1] === 'ABORT' && words.length === 2) || bounded) return;
  throw new ForbiddenCommandError('FAILOVER is only sent as TO host port TIMEOUT ms, or as ABORT.');
};

/** RESET takes a pattern: `*` would make a Sentinel forget everything it watches. */
const assertPlainName = (subcommand: string, name: string): void => {
  if (!PLAIN_NAME.test(name))
    throw new ForbiddenCommandError(`SENTINEL ${subcommand} is only sent with one plain name.`);
};
