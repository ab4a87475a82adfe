/** A scripted Sentinel behind a real socket: remembers what it monitors and with which settings. */
import { startRespServer } from './resp-server.ts';
import type { RespServer, RespValue } from './resp-server.ts';

export interface FakeMonitored {
  host: string;
  port: number;
  settings: Record<string, string>;
  flags: string;
  configEpoch: number;
}

export interface FakeSentinelState {
  id: string;
  masters: Map<string, FakeMonitored>;
  otherSentinels: number;
  replicaHosts: string[];
  /** What it says to SENTINEL FAILOVER; it does nothing. */
  failoverAnswer: RespValue;
}

export interface FakeSentinel extends RespServer {
  readonly state: FakeSentinelState;
}

export const startFakeSentinel = async (initial: Partial<FakeSentinelState> = {}): Promise<FakeSentinel> => {
  const state: FakeSentinelState = {
    id: 'c'.repeat(40),
    masters: new Map(),
    otherSentinels: 2,
    replicaHosts: [],
    failoverAnswer: 'OK',
    ...initial,
  };
  const server = await startRespServer((command) => answer(state, command));
  return Object.assign(server, { state });
};

const answer = (state: FakeSentinelState, command: readonly string[]): RespValue => {
  const [name = '', subcommand = '', ...args] = command;
  if (name.toUpperCase() !== 'SENTINEL') return new Error(`ERR unknown command '${name}'`);
  const handler = HANDLERS[subcommand.toUpperCase()];
  return handler === undefined ? new Error(`ERR Unknown sentinel subcommand '${subcommand}'`) : handler(state, args);
};

const NO_SUCH_MASTER = new Error('ERR No such master with that name');

const HANDLERS: Readonly<Record<string, (state: FakeSentinelState, args: readonly string[]) => RespValue>> = {
  MYID: (state) => state.id,
  MASTER: (state, [name = '']) => {
    const master = state.masters.get(name);
    return master === undefined ? NO_SUCH_MASTER : masterFields(state, name, master);
  },
  REPLICAS: (state, [name = '']) =>
    state.masters.has(name)
      ? state.replicaHosts.map((host) => ['name', `${host}:6379`, 'ip', host, 'port', '6379', 'flags', 'slave'])
      : NO_SUCH_MASTER,
  CKQUORUM: (state, [name = '']) =>
    state.masters.has(name) ? `OK ${state.otherSentinels + 1} usable Sentinels.` : NO_SUCH_MASTER,
  RESET: (state, [name = '']) => {
    if (!state.masters.has(name)) return 0;
    state.replicaHosts = [];
    state.otherSentinels = 0;
    return 1;
  },
  FAILOVER: (state, [name = '']) => (state.masters.has(name) ? state.failoverAnswer : NO_SUCH_MASTER),
  MONITOR: (state, [name = '', host = '', port = '0', quorum = '0']) => {
    if (state.masters.has(name)) return new Error('ERR Duplicate master name');
    const settings = {
      quorum,
      'down-after-milliseconds': '30000',
      'failover-timeout': '180000',
      'parallel-syncs': '1',
    };
    state.masters.set(name, { host, port: Number(port), settings, flags: 'master', configEpoch: 0 });
    return 'OK';
  },
  SET: (state, [name = '', ...pairs]) => {
    const master = state.masters.get(name);
    if (master === undefined) return NO_SUCH_MASTER;
    if (pairs[0] === 'parallel-syncs' && !/^\d+$/.test(pairs[1] ?? '')) {
      return new Error(`ERR Invalid argument '${pairs[1]}' for SENTINEL SET 'parallel-syncs'`);
    }
    for (let index = 0; index + 1 < pairs.length; index += 2)
      master.settings[pairs[index] ?? ''] = pairs[index + 1] ?? '';
    return 'OK';
  },
  REMOVE: (state, [name = '']) => (state.masters.delete(name) ? 'OK' : NO_SUCH_MASTER),
};

const masterFields = (state: FakeSentinelState, name: string, master: FakeMonitored): RespValue => [
  ...['name', name, 'ip', master.host, 'port', String(master.port), 'flags', master.flags],
  ...['config-epoch', String(master.configEpoch), 'num-slaves', String(state.replicaHosts.length)],
  ...['num-other-sentinels', String(state.otherSentinels)],
  ...Object.entries(master.settings)
    .filter(([option]) => !option.startsWith('auth-'))
    .flat(),
];
