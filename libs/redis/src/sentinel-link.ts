/**
 * One Sentinel, spoken to over one standing connection. MONITOR resets every option of a master name, so MONITOR and
 * all SETs go out in one write: a caller killed in between cannot leave a Sentinel without its password.
 */
import type { SentinelFacts } from '#domain';
import { readAcl, setUsers } from './acl-commands.ts';
import type { AclSeen } from './acl-commands.ts';
import type { AclExpectation } from './acl-facts.ts';
import type { RedisCommand } from './assert-command-allowed.ts';
import { buildSentinelFacts } from './build-sentinel-facts.ts';
import { done, refused, unchanged } from './command-outcome.ts';
import type { CommandOutcome } from './command-outcome.ts';
import { buildSentinelMetrics } from './exporter/build-sentinel-metrics.ts';
import type { MetricFamily } from './exporter/metric-family.ts';
import type { LinkOptions, RedisCredentials } from './link-options.ts';
import { parseCheckQuorum, parseReplicaViews, parseSentinelMaster } from './parse-sentinel.ts';
import type { ReplicaView } from './parse-sentinel.ts';
import { RedisCallError } from './redis-call-error.ts';
import { StandingConnection } from './standing-connection.ts';
import type { Reply } from './standing-connection.ts';

export interface MonitorRequest {
  readonly masterName: string;
  readonly primaryHost: string;
  readonly primaryPort: number;
  readonly quorum: number;
  /** SENTINEL SET options by name, without the secret ones. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the Sentinel authenticates to the data pods with. */
  readonly auth?: RedisCredentials;
}

export class SentinelLink {
  readonly host: string;
  readonly port: number;
  readonly #connection: StandingConnection;

  constructor(options: LinkOptions) {
    this.host = options.host;
    this.port = options.port;
    this.#connection = new StandingConnection(options);
  }

  /** The Sentinel's view of one master name in one round trip. Never throws for an unreachable Sentinel. */
  async probe(masterName: string): Promise<SentinelFacts> {
    try {
      const replies = await this.#connection.run([
        ['SENTINEL', 'MYID'],
        ['SENTINEL', 'MASTER', masterName],
        ['SENTINEL', 'REPLICAS', masterName],
        ['SENTINEL', 'CKQUORUM', masterName],
      ]);
      const [myId, master, replicas, checkQuorum] = replies.map((reply) => (reply.ok ? reply.value : undefined));
      return buildSentinelFacts({ myId, master, replicas, checkQuorum });
    } catch (error) {
      if (error instanceof RedisCallError) return { reachable: false, reason: error.reason, message: error.message };
      throw error;
    }
  }

  /**
   * Makes this Sentinel monitor the address. When it monitors another one under this name: REMOVE first, but never
   * while it runs a failover.
   */
  async monitor(request: MonitorRequest): Promise<CommandOutcome> {
    const [current] = await this.#connection.run([['SENTINEL', 'MASTER', request.masterName]]);
    const commands: RedisCommand[] = [];
    if (current?.ok === true) {
      const master = parseSentinelMaster(current.value);
      if (master.flags.includes('failover_in_progress')) {
        return refused('FAILOVER_IN_PROGRESS', 'This Sentinel runs a failover.');
      }
      const same = master.host === request.primaryHost && master.port === request.primaryPort;
      if (same) return this.set(request.masterName, request.settings, request.auth);
      commands.push(['SENTINEL', 'REMOVE', request.masterName]);
    }
    const { masterName, primaryHost, primaryPort, quorum } = request;
    commands.push(['SENTINEL', 'MONITOR', masterName, primaryHost, String(primaryPort), String(quorum)]);
    commands.push(...setCommands(masterName, request.settings, request.auth));
    return firstRefusal(await this.#connection.run(commands));
  }

  /** SENTINEL SET for each option; the password goes last and only to this one Sentinel. */
  async set(
    masterName: string,
    settings: Readonly<Record<string, string>>,
    auth?: RedisCredentials,
  ): Promise<CommandOutcome> {
    const commands = setCommands(masterName, settings, auth);
    return commands.length === 0 ? unchanged : firstRefusal(await this.#connection.run(commands));
  }

  /**
   * SENTINEL RESET: forgets replicas and peers of the name, to find those of today anew. Refused when it monitors another
   * address than was planned for, thinks the primary is down, or runs a failover: it would forget that too.
   */
  async reset(masterName: string, expectPrimaryHost: string): Promise<CommandOutcome> {
    const [current] = await this.#connection.run([['SENTINEL', 'MASTER', masterName]]);
    if (current?.ok !== true) return refused('NOT_MONITORED', 'This Sentinel does not monitor the name.');
    const master = parseSentinelMaster(current.value);
    const settled = master.flags.length === 1 && master.flags[0] === 'master';
    if (master.host !== expectPrimaryHost || !settled) {
      return refused('NOT_SETTLED', `This Sentinel is not settled (${master.flags.join(', ')}).`);
    }
    return firstRefusal(await this.#connection.run([['SENTINEL', 'RESET', masterName]]));
  }

  /** What this Sentinel knows of the replicas it could promote, and how old that knowledge is. Throws when it is silent. */
  async replicaViews(masterName: string): Promise<readonly ReplicaView[]> {
    const [reply] = await this.#connection.run([['SENTINEL', 'REPLICAS', masterName]]);
    return reply?.ok === true ? parseReplicaViews(reply.value) : [];
  }

  /**
   * Where this Sentinel sends clients; undefined when it does not know the name. During a failover that it leads this is
   * the promoted replica as soon as that one said that it is primary. Throws when it is silent.
   */
  async primaryAddress(masterName: string): Promise<{ host: string; port: number } | undefined> {
    const [reply] = await this.#connection.run([['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName]]);
    if (reply?.ok !== true || !Array.isArray(reply.value)) return undefined;
    const [host, port] = reply.value as readonly unknown[];
    return { host: String(host), port: Number(port) };
  }

  /** How often this Sentinel asks for INFO in calm; its own default is 10 s. Kept in its memory only. */
  async setInfoPeriod(periodMs: number): Promise<CommandOutcome> {
    return firstRefusal(await this.#connection.run([['SENTINEL', 'DEBUG', 'INFO-PERIOD', String(periodMs)]]));
  }

  /**
   * Why this Sentinel would refuse a failover now, asked without changing anything; unchanged: nothing is in its way. How
   * long ago the last one was does not matter: the wait of twice the failover-timeout is for those that Sentinel begins
   * by itself.
   */
  async mayFailOver(
    masterName: string,
    expect: { readonly host: string; readonly port: number },
  ): Promise<CommandOutcome> {
    const [current, quorum] = await this.#connection.run([
      ['SENTINEL', 'MASTER', masterName],
      ['SENTINEL', 'CKQUORUM', masterName],
    ]);
    if (current?.ok !== true) return refused('NOT_MONITORED', 'This Sentinel does not monitor the name.');
    if (quorum?.ok !== true || !parseCheckQuorum(quorum.value)) {
      return refused('NO_QUORUM', 'The Sentinels have no quorum.');
    }
    const master = parseSentinelMaster(current.value);
    if (master.host !== expect.host || master.port !== expect.port) {
      return refused('ANOTHER_PRIMARY', 'This Sentinel monitors another primary than was planned for.');
    }
    return master.flags.includes('failover_in_progress') ? inProgress : unchanged;
  }

  /**
   * SENTINEL FAILOVER: this Sentinel promotes a replica of its own choice, whether or not the primary lives. Refused when
   * it monitors another address than was planned for, or a failover is on. Of a live primary it is no hand-over: whoever
   * calls it has paused the writers before.
   */
  async failOver(
    masterName: string,
    expect: { readonly host: string; readonly port: number },
  ): Promise<CommandOutcome> {
    const may = await this.mayFailOver(masterName, expect);
    if (may.outcome === 'REFUSED') return may;
    const [reply] = await this.#connection.run([['SENTINEL', 'FAILOVER', masterName]]);
    return reply?.ok === false ? explainNoFailover(reply.error) : done;
  }

  /** Who is let in, judged against what should be; undefined when the Sentinel does not tell. */
  readAcl(expectation: AclExpectation, clients: boolean): Promise<AclSeen | undefined> {
    return readAcl((...asked) => this.#connection.run(...asked), 'sentinel', expectation, clients);
  }

  setUsers(expectation: AclExpectation, names: readonly string[], remove: readonly string[]): Promise<CommandOutcome> {
    return setUsers((commands) => this.#connection.run(commands), expectation, names, remove);
  }

  /**
   * What this Sentinel logs in with at data pods, then at its peers. The latter comes last: it is what can be read back,
   * so that it stands for both.
   */
  async setLogin(masterName: string, auth: RedisCredentials): Promise<CommandOutcome> {
    const [current] = await this.#connection.run([['SENTINEL', 'MASTER', masterName]]);
    const commands: RedisCommand[] = current?.ok === true ? [...setCommands(masterName, {}, auth)] : [];
    const outcome = commands.length === 0 ? done : firstRefusal(await this.#connection.run(commands));
    if (outcome.outcome === 'REFUSED') return outcome;
    const { username, password } = auth;
    return firstRefusal(
      await this.#connection.run([
        ['SENTINEL', 'CONFIG', 'SET', 'sentinel-user', username],
        ['SENTINEL', 'CONFIG', 'SET', 'sentinel-pass', password],
      ]),
    );
  }

  /** SENTINEL REMOVE; unchanged when the name is not monitored, refused while this Sentinel runs a failover. */
  async remove(masterName: string): Promise<CommandOutcome> {
    const [current] = await this.#connection.run([['SENTINEL', 'MASTER', masterName]]);
    if (current?.ok !== true) return unchanged;
    if (parseSentinelMaster(current.value).flags.includes('failover_in_progress')) {
      return refused('FAILOVER_IN_PROGRESS', 'This Sentinel runs a failover.');
    }
    const [reply] = await this.#connection.run([['SENTINEL', 'REMOVE', masterName]]);
    return reply?.ok === true ? done : unchanged;
  }

  /** Everything this Sentinel tells of itself and of one master name, as metrics. Throws RedisCallError without an answer. */
  async readMetrics(masterName: string, nowMs: number): Promise<readonly MetricFamily[]> {
    const replies = await this.#connection.run([
      ['INFO', 'everything'],
      ['SENTINEL', 'MASTER', masterName],
      ['SENTINEL', 'SENTINELS', masterName],
      ['SENTINEL', 'REPLICAS', masterName],
      ['SENTINEL', 'CKQUORUM', masterName],
    ]);
    const [info, master, sentinels, replicas, checkQuorum] = replies.map((reply) =>
      reply.ok ? reply.value : undefined,
    );
    if (typeof info !== 'string') throw new RedisCallError('OTHER', 'INFO gave no text');
    return buildSentinelMetrics({ masterName, info, master, sentinels, replicas, checkQuorum }, nowMs);
  }

  close(): void {
    this.#connection.close();
  }
}

const setCommands = (
  masterName: string,
  settings: Readonly<Record<string, string>>,
  auth: RedisCredentials | undefined,
): readonly RedisCommand[] => {
  const commands: RedisCommand[] = Object.entries(settings).map(([name, value]) => [
    'SENTINEL',
    'SET',
    masterName,
    name,
    value,
  ]);
  if (auth !== undefined) {
    commands.push(['SENTINEL', 'SET', masterName, 'auth-user', auth.username, 'auth-pass', auth.password]);
  }
  return commands;
};

const inProgress = refused(
  'FAILOVER_IN_PROGRESS',
  'This Sentinel runs a failover, which ends within its failover-timeout.',
);

const explainNoFailover = (error: string): CommandOutcome => {
  const [code = 'ERR'] = error.split(' ');
  if (code === 'INPROG') return inProgress;
  if (code !== 'NOGOODSLAVE') return refused('SERVER_REFUSED', `Sentinel answered ${code}.`);
  const message =
    'This Sentinel knows no replica that it would promote: none answered it lately with a link that is up.';
  return refused('NO_GOOD_REPLICA', message);
};

/** Server texts to SENTINEL SET may repeat the value, and the value may be the password: only the code is kept. */
const firstRefusal = (replies: readonly Reply[]): CommandOutcome => {
  for (const reply of replies) {
    if (!reply.ok) return refused('SERVER_REFUSED', `Sentinel answered ${reply.error.split(' ')[0] ?? 'ERR'}.`);
  }
  return done;
};
