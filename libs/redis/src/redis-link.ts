/**
 * One data pod, spoken to over one standing connection. Everything that changes a topology reads its precondition
 * again on the server right before, in the same connection: between plan and command the world may have moved.
 */
import { WAITING_PRIMARY_HOST } from '#domain';
import type { RedisNodeFacts } from '#domain';
import { readAcl, setUsers } from './acl-commands.ts';
import type { AclSeen } from './acl-commands.ts';
import type { AclExpectation } from './acl-facts.ts';
import type { RedisCommand } from './assert-command-allowed.ts';
import { applyConfig } from './apply-config.ts';
import type { AppliedConfig } from './apply-config.ts';
import { INFO_SECTIONS, readRedis } from './build-redis-facts.ts';
import type { ReachableRedis, RedisReading } from './build-redis-facts.ts';
import { done, refused, unchanged } from './command-outcome.ts';
import type { CommandOutcome } from './command-outcome.ts';
import { buildRedisMetrics } from './exporter/build-redis-metrics.ts';
import type { MetricFamily } from './exporter/metric-family.ts';
import type { LinkOptions, RedisCredentials } from './link-options.ts';
import { parsePairs } from './parse-pairs.ts';
import { RedisCallError } from './redis-call-error.ts';
import { ReplicaProgress } from './replica-progress.ts';
import { setAsideCopy } from './set-aside-copy.ts';
import { StandingConnection } from './standing-connection.ts';
import type { Reply } from './standing-connection.ts';

export interface PromotionPreconditions {
  /** Empty text: any. */
  readonly expectRunId: string;
  readonly onlyIfEmpty: boolean;
  readonly onlyIfWaiting: boolean;
}

export interface ReplicationTarget {
  readonly expectRunId: string;
  readonly primaryHost: string;
  readonly primaryPort: number;
  /** A pause of its writers goes on: whoever asks for that ends it, by `dismissClients`. */
  readonly staysPaused?: boolean;
}

export interface FailoverTarget {
  readonly expectRunId: string;
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

export class RedisLink {
  readonly host: string;
  readonly port: number;
  readonly #connection: StandingConnection;
  readonly #progress = new ReplicaProgress();

  constructor(options: LinkOptions) {
    this.host = options.host;
    this.port = options.port;
    this.#connection = new StandingConnection(options);
  }

  /**
   * The node's facts in one round trip, two with the AUTH of a new connection. Never throws for an unreachable node:
   * that is a fact too.
   */
  async probe(configNames: readonly string[] = []): Promise<RedisNodeFacts> {
    try {
      const { facts, readBytes } = await this.#readAll(configNames);
      return { ...facts, ...this.#progress.look(facts, readBytes, performance.now()) };
    } catch (error) {
      if (error instanceof RedisCallError) return { reachable: false, reason: error.reason, message: error.message };
      throw error;
    }
  }

  /** REPLICAOF NO ONE, when the node is still the process that was planned for and still as the plan says. */
  async promote(preconditions: PromotionPreconditions): Promise<CommandOutcome> {
    const facts = await this.#readFacts([]);
    if (preconditions.expectRunId !== '' && facts.runId !== preconditions.expectRunId) return restarted;
    if (facts.role === 'master') {
      // Sentinel may have been faster, and a pause of before goes on.
      await this.#connection.run([UNPAUSE]);
      return unchanged;
    }
    const refusal = refusePromotion(facts, preconditions);
    if (refusal !== undefined) return refusal;
    // In one go: where the first is refused the second ends a pause of a replica, which refuses writes by itself.
    const [reply] = await this.#connection.run([['REPLICAOF', 'NO', 'ONE'], UNPAUSE]);
    return toOutcome(reply);
  }

  /**
   * REPLICAOF host port, when the node is still the process that was planned for. A former primary's clients are
   * disconnected, so that none goes on writing to a replica.
   */
  async replicaOf(target: ReplicationTarget): Promise<CommandOutcome> {
    const facts = await this.#readFacts([]);
    if (target.expectRunId !== '' && facts.runId !== target.expectRunId) return restarted;
    const follows = facts.masterHost === target.primaryHost && facts.masterPort === target.primaryPort;
    if (facts.role === 'slave' && follows) return unchanged;
    if (facts.loading) return refused('LOADING', 'The node is still loading its data.');
    const command: RedisCommand = ['REPLICAOF', target.primaryHost, String(target.primaryPort)];
    if (target.staysPaused === true) return this.#change(command);
    return this.#changeAndResume(command, facts.role === 'master' ? KILL_CLIENTS : []);
  }

  /** One CONFIG SET for all values: the server takes all of them or none. */
  async configSet(values: Readonly<Record<string, string>>): Promise<CommandOutcome> {
    const pairs = Object.entries(values).flat();
    return pairs.length === 0 ? unchanged : this.#change(['CONFIG', 'SET', ...pairs]);
  }

  /** CONFIG SET for as many of the values as the server takes, in as few commands, and what it says of the others. */
  applyConfig(values: Readonly<Record<string, string>>): Promise<AppliedConfig> {
    return applyConfig((command) => this.#connection.run([command]), values);
  }

  /** Who is let in, judged against what should be; undefined when the server does not tell. */
  readAcl(expectation: AclExpectation, clients: boolean): Promise<AclSeen | undefined> {
    return readAcl((...asked) => this.#connection.run(...asked), 'redis', expectation, clients);
  }

  setUsers(expectation: AclExpectation, names: readonly string[], remove: readonly string[]): Promise<CommandOutcome> {
    return setUsers((commands) => this.#connection.run(commands), expectation, names, remove);
  }

  /** What this node logs in with at its primary. A link that is up stays up. */
  async setReplicationLogin({ username, password }: RedisCredentials): Promise<CommandOutcome> {
    const [reply] = await this.#connection.run([['CONFIG', 'SET', 'masteruser', username, 'masterauth', password]]);
    return reply?.ok === true ? done : refused('SERVER_REFUSED', 'The server refused its login at the primary.');
  }

  /** Values of the named directives; a name that this engine does not know is absent. */
  async configGet(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    if (names.length === 0) return {};
    const [reply] = await this.#connection.run([['CONFIG', 'GET', ...names]]);
    return parsePairs(valueOf(reply));
  }

  /**
   * Nobody but the operator gets a write through for `pauseMs`: writes are paused first, then every client connection is
   * closed, so that none waits inside the pause and is served at its end.
   */
  async fence(expectRunId: string, pauseMs: number): Promise<CommandOutcome> {
    const facts = await this.#readFacts([]);
    if (expectRunId !== '' && facts.runId !== expectRunId) return restarted;
    const replies = await this.#connection.run([['CLIENT', 'PAUSE', String(pauseMs), 'WRITE'], ...KILL_CLIENTS]);
    return toOutcome(replies[0]);
  }

  /**
   * Writes its data set as an RDB of this name on its data volume, and waits until it is complete. From then on until its
   * users are set again, which the next pass does, no Sentinel can make it a replica.
   */
  async setAside(expectRunId: string, file: string, timeoutMs: number): Promise<CommandOutcome> {
    const facts = await this.#readFacts([]);
    if (expectRunId !== '' && facts.runId !== expectRunId) return restarted;
    if (facts.loading || facts.syncInProgress) return refused('LOADING', 'The node has no complete data now.');
    if (facts.role === 'master') await this.#connection.run([KEEP_FROM_SENTINEL]);
    return setAsideCopy((commands) => this.#connection.run(commands), file, timeoutMs);
  }

  /** Names our own connection, which whoever looks at the server's clients can read; empty text: no name. */
  async nameConnection(name: string): Promise<void> {
    await this.#connection.run([['CLIENT', 'SETNAME', name]]);
  }

  /** CLIENT PAUSE for writes only; it ends by itself after `timeoutMs`. */
  pauseWrites(timeoutMs: number): Promise<CommandOutcome> {
    return this.#change(['CLIENT', 'PAUSE', String(timeoutMs), 'WRITE']);
  }

  resumeWrites(): Promise<CommandOutcome> {
    return this.#change(UNPAUSE);
  }

  /**
   * For a primary that has handed over: every client connection but ours is closed, then its pause ends. In this order a
   * write that waits in the pause is not answered with READONLY but sent again to the new primary.
   */
  async dismissClients(): Promise<CommandOutcome> {
    const replies = await this.#connection.run([...KILL_CLIENTS, UNPAUSE]);
    return toOutcome(replies.at(-1));
  }

  /** Everything the engine tells of itself, as metrics. Throws RedisCallError when there is no answer. */
  async readMetrics(nowMs: number): Promise<readonly MetricFamily[]> {
    const [info, latency, slowlog, config] = await this.#connection.run([
      ['INFO', 'everything'],
      ['LATENCY', 'LATEST'],
      ['SLOWLOG', 'LEN'],
      ['CONFIG', 'GET', 'maxmemory', 'maxclients'],
    ]);
    const text = valueOf(info);
    if (typeof text !== 'string') throw new RedisCallError('OTHER', 'INFO gave no text');
    const answers = { info: text, latency: valueOf(latency), slowlogLength: valueOf(slowlog) };
    return buildRedisMetrics({ ...answers, config: parsePairs(valueOf(config)) }, nowMs);
  }

  /**
   * FAILOVER TO host port TIMEOUT ms: the server pauses its writers, waits until the target has everything, and hands
   * over. DONE means begun; `failoverState` of the facts says when it is over. Never under Sentinel.
   */
  async beginFailover(target: FailoverTarget): Promise<CommandOutcome> {
    const facts = await this.#readFacts([]);
    if (facts.runId !== target.expectRunId) return restarted;
    if (facts.role !== 'master') return refused('NOT_PRIMARY', 'The node is no primary any more.');
    const { host, port, timeoutMs } = target;
    return this.#change(['FAILOVER', 'TO', host, String(port), 'TIMEOUT', String(timeoutMs)]);
  }

  /** FAILOVER ABORT; refused when none is on. */
  abortFailover(): Promise<CommandOutcome> {
    return this.#change(['FAILOVER', 'ABORT']);
  }

  close(): void {
    this.#connection.close();
  }

  async #readFacts(configNames: readonly string[]): Promise<ReachableRedis> {
    return (await this.#readAll(configNames)).facts;
  }

  async #readAll(configNames: readonly string[]): Promise<RedisReading> {
    const commands: RedisCommand[] = [['INFO', ...INFO_SECTIONS]];
    if (configNames.length > 0) commands.push(['CONFIG', 'GET', ...configNames]);
    const [info, config] = await this.#connection.run(commands);
    const text = valueOf(info);
    if (typeof text !== 'string') throw new RedisCallError('OTHER', 'INFO gave no text');
    return readRedis(text, config === undefined ? {} : parsePairs(valueOf(config)));
  }

  /**
   * A pause of writes outlives a change of role. A paused replica applies nothing of what it is sent, while its link says
   * up and its lag a second: it counts for min-replicas-to-write and has none of the writes that are taken for it (seen:
   * a thousand acknowledged writes that only one pod had). A replica refuses writes by itself and needs no pause.
   */
  async #changeAndResume(command: RedisCommand, before: readonly RedisCommand[]): Promise<CommandOutcome> {
    const outcome = await this.#change(command);
    if (outcome.outcome === 'DONE') await this.#connection.run([...before, UNPAUSE]);
    return outcome;
  }

  async #change(command: RedisCommand): Promise<CommandOutcome> {
    const [reply] = await this.#connection.run([command]);
    return toOutcome(reply);
  }
}

const UNPAUSE: RedisCommand = ['CLIENT', 'UNPAUSE'];

const KILL_CLIENTS: readonly RedisCommand[] = [
  ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'],
  ['CLIENT', 'KILL', 'TYPE', 'pubsub', 'SKIPME', 'yes'],
];

/**
 * Sentinel demotes a second primary after 8 s, which ends a save that is on and erases what was not kept yet (seen), and a
 * save of some gigabytes takes longer. Only these two rights, and in memory alone: an agent that dies here leaves a pod
 * that everything but a demotion by Sentinel still works on.
 */
const KEEP_FROM_SENTINEL: RedisCommand = ['ACL', 'SETUSER', 'sentinel', '-replicaof', '-slaveof'];

const restarted = refused('RESTARTED', 'The process is another one than was planned for.');

const refusePromotion = (facts: ReachableRedis, preconditions: PromotionPreconditions): CommandOutcome | undefined => {
  if (facts.loading) return refused('LOADING', 'The node is still loading its data.');
  if (facts.syncInProgress) return refused('SYNCING', 'The node is receiving data from a primary.');
  if (facts.linkUp === true) return refused('LINK_UP', 'The node is linked to a primary, which therefore lives.');
  if (preconditions.onlyIfEmpty && facts.keys > 0) return refused('NOT_EMPTY', 'The node holds keys.');
  if (preconditions.onlyIfWaiting && facts.masterHost !== WAITING_PRIMARY_HOST) {
    return refused('NOT_WAITING', 'The node follows a primary, or was told to.');
  }
  return undefined;
};

const valueOf = (reply: Reply | undefined): unknown => (reply?.ok === true ? reply.value : undefined);

const toOutcome = (reply: Reply | undefined): CommandOutcome => {
  if (reply === undefined) return refused('NO_REPLY', 'The server gave no reply.');
  return reply.ok ? done : refused('SERVER_REFUSED', withoutArguments(reply.error));
};

/** Redis repeats the offending value in some errors; a value may be a secret only for commands we never report. */
const withoutArguments = (text: string): string => text.slice(0, 200);
