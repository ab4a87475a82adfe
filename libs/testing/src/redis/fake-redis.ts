/** A scripted Redis behind a real socket: holds the state that INFO tells, and obeys the commands the agent sends. */
import { SILENT, startRespServer } from './resp-server.ts';
import type { RespServer, RespSession, RespValue } from './resp-server.ts';

export interface FakeRedisState {
  role: 'master' | 'slave';
  runId: string;
  replicationId: string;
  offsetBytes: number;
  masterHost: string;
  masterPort: number;
  linkUp: boolean;
  syncInProgress: boolean;
  loading: boolean;
  keys: number;
  connectedReplicas: number;
  config: Record<string, string>;
  /** Accepts connections and answers nothing, as a frozen process does. */
  frozen: boolean;
  user: { name: string; password: string } | undefined;
  pausedForMs: number;
}

export interface FakeRedis extends RespServer {
  readonly state: FakeRedisState;
}

export const startFakeRedis = async (initial: Partial<FakeRedisState> = {}, port = 0): Promise<FakeRedis> => {
  const state: FakeRedisState = {
    role: 'master',
    runId: 'a'.repeat(40),
    replicationId: 'b'.repeat(40),
    offsetBytes: 0,
    masterHost: '',
    masterPort: 0,
    linkUp: false,
    syncInProgress: false,
    loading: false,
    keys: 0,
    connectedReplicas: 0,
    config: { maxmemory: '0', 'maxmemory-policy': 'noeviction' },
    frozen: false,
    user: undefined,
    pausedForMs: 0,
    ...initial,
  };
  const server = await startRespServer((command, session) => answer(state, command, session), port);
  return Object.assign(server, { state });
};

const answer = (state: FakeRedisState, command: readonly string[], session: RespSession): RespValue => {
  if (state.frozen) return SILENT;
  const [name = '', ...args] = command;
  const upper = name.toUpperCase();
  if (upper === 'AUTH') return authenticate(state, args, session);
  if (state.user !== undefined && !session.authenticated) return new Error('NOAUTH Authentication required.');
  const handler = HANDLERS[upper];
  return handler === undefined ? new Error(`ERR unknown command '${name}'`) : handler(state, args);
};

const authenticate = (state: FakeRedisState, args: readonly string[], session: RespSession): RespValue => {
  const [name, password] = args.length === 1 ? ['default', args[0]] : args;
  if (state.user?.name !== name || state.user?.password !== password) {
    return new Error('WRONGPASS invalid username-password pair or user is disabled.');
  }
  session.authenticated = true;
  return 'OK';
};

const HANDLERS: Readonly<Record<string, (state: FakeRedisState, args: readonly string[]) => RespValue>> = {
  PING: () => 'PONG',
  INFO: (state) => infoText(state),
  ROLE: (state) =>
    state.role === 'master'
      ? ['master', state.offsetBytes, []]
      : ['slave', state.masterHost, state.masterPort, state.linkUp ? 'connected' : 'connect', state.offsetBytes],
  CONFIG: (state, args) =>
    args[0]?.toUpperCase() === 'GET' ? getConfig(state, args.slice(1)) : setConfig(state, args.slice(1)),
  CLIENT: (state, args) => {
    const subcommand = args[0]?.toUpperCase();
    if (subcommand === 'PAUSE') state.pausedForMs = Number(args[1]);
    if (subcommand === 'UNPAUSE') state.pausedForMs = 0;
    return subcommand === 'KILL' ? 0 : 'OK';
  },
  REPLICAOF: (state, args) => {
    const promote = args[0]?.toUpperCase() === 'NO';
    state.role = promote ? 'master' : 'slave';
    state.masterHost = promote ? '' : (args[0] ?? '');
    state.masterPort = promote ? 0 : Number(args[1]);
    state.linkUp = false;
    return 'OK';
  },
};

const getConfig = (state: FakeRedisState, names: readonly string[]): RespValue =>
  names.flatMap((name) => (name in state.config ? [name, state.config[name] ?? ''] : []));

/** As the real one: everything or nothing. */
const setConfig = (state: FakeRedisState, args: readonly string[]): RespValue => {
  const next = { ...state.config };
  for (let index = 0; index + 1 < args.length; index += 2) {
    const name = args[index] ?? '';
    if (!(name in state.config))
      return new Error(`ERR Unknown option or number of arguments for CONFIG SET - '${name}'`);
    if (name === 'maxmemory-policy' && args[index + 1] === 'bogus')
      return new Error('ERR CONFIG SET failed - bad enum');
    next[name] = args[index + 1] ?? '';
  }
  state.config = next;
  return 'OK';
};

const infoText = (state: FakeRedisState): string =>
  [
    '# Server',
    'redis_version:8.0.2',
    `run_id:${state.runId}`,
    '# Persistence',
    `loading:${state.loading ? 1 : 0}`,
    '# Replication',
    `role:${state.role}`,
    ...(state.role === 'slave'
      ? [
          `master_host:${state.masterHost}`,
          `master_port:${state.masterPort}`,
          `master_link_status:${state.linkUp ? 'up' : 'down'}`,
          `master_sync_in_progress:${state.syncInProgress ? 1 : 0}`,
          `slave_repl_offset:${state.offsetBytes}`,
          ...(state.linkUp ? [] : ['master_link_down_since_seconds:-1']),
        ]
      : []),
    `connected_slaves:${state.connectedReplicas}`,
    `master_replid:${state.replicationId}`,
    `master_replid2:${'0'.repeat(40)}`,
    `master_repl_offset:${state.offsetBytes}`,
    '# Keyspace',
    ...(state.keys > 0 ? [`db0:keys=${state.keys},expires=0,avg_ttl=0,subexpiry=0`] : []),
    '',
  ].join('\r\n');
