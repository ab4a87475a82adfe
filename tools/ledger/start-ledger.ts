/**
 * Proof that a change lost nothing: a user's client writes unique keys through Sentinel or the primary's Service, a raw
 * probe writes at every data pod at once, and at the end every acknowledged key must exist.
 *   const ledger = await startLedger(cluster, 'my-namespace', 'my-redis');
 *   … switchover, rolling restart, kill …
 *   const report = await ledger.finish();       expect(report.lost).toEqual([])
 * Only acknowledged writes count: a write without an answer may or may not be there.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { createKubeClient, loadKubeConnection } from '#kube';
import { connectUser } from './connect-user.ts';
import { findMissing, findMissingAt } from './find-missing.ts';
import { findSpans, type Span } from './find-spans.ts';
import type { Gap } from './measure-gap.ts';
import { MemberProbe } from './member-probe.ts';
import { UserWriter } from './user-writer.ts';
import { listMembers, readLedgerConnection, repeatLook, type Connection, type LedgerTarget } from './watch-members.ts';

export interface LedgerOptions {
  /** Loops of the user's client with one command in flight each. Default 4. */
  readonly writers?: number;
  /** Pause of each loop, in ms. Default 20: with four writers 200 writes a second. */
  readonly writePeriodMs?: number;
  /** Period of the raw probe at every data pod, in ms; 0: no probe. Default 5. */
  readonly probePeriodMs?: number;
}

export interface LedgerGaps {
  /** Longest time without an acknowledged write of the user's client. */
  readonly longestClientGapMs: number;
  /** Longest time in which no data pod took a write. */
  readonly longestEngineGapMs: number;
  readonly clientGap: Gap;
  readonly engineGap: Gap;
}

export interface LedgerReport extends LedgerGaps {
  /** Begin of the measurement that the gaps count from, ms since the epoch. */
  readonly startedAtMs: number;
  readonly attempted: number;
  /** Writes that were answered OK. */
  readonly acknowledged: number;
  /** Acknowledged keys that the primary does not have. */
  readonly lost: readonly string[];
  /** When those were acknowledged, ms since the epoch. */
  readonly lostSpans: readonly Span[];
  /** With `everywhere`: acknowledged keys that a replica does not have, by pod. */
  readonly lostOnReplicas: Readonly<Record<string, readonly string[]>>;
  /** Writes that the client's code saw fail, in all and by the first word of the error. */
  readonly errors: number;
  readonly errorKinds: Readonly<Record<string, number>>;
  /** Longest time in which two pods took writes at once. */
  readonly twoPrimariesMs: number;
}

const LOOK_PERIOD_MS = 250;
const VERIFY_MS = 30_000;
const REPLICAS_CATCH_UP_MS = 10_000;

/** Starts writing and probing; resolves after the first acknowledged write. `cluster` is a LocalCluster, or names a kubeconfig. */
export async function startLedger(
  cluster: { readonly kubeconfigPath: string },
  namespace: string,
  name: string,
  options: LedgerOptions = {},
): Promise<WriteLedger> {
  const connection = await loadKubeConnection({ kubeconfigPath: cluster.kubeconfigPath });
  const target = { client: createKubeClient(connection, { userAgent: 'write-ledger/1' }), namespace, name };
  const secret = await readLedgerConnection(target);
  const ledger = new WriteLedger(target, secret, await connectUser(target, secret), options);
  await ledger.firstWrite();
  return ledger;
}

export class WriteLedger {
  readonly #target: LedgerTarget;
  readonly #redis: Redis;
  readonly #writer: UserWriter;
  readonly #probe: MemberProbe | undefined;
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;
  readonly #startedAtMs: number;
  #connection: Connection;

  constructor(target: LedgerTarget, connection: Connection, redis: Redis, options: LedgerOptions) {
    const { writers = 4, writePeriodMs = 20, probePeriodMs = 5 } = options;
    const run = randomUUID().slice(0, 8);
    const startedAt = performance.now();
    this.#startedAtMs = performance.timeOrigin + startedAt;
    this.#target = target;
    this.#connection = connection;
    this.#redis = redis;
    this.#writer = new UserWriter({ redis, run, writers, periodMs: writePeriodMs }, startedAt);
    if (probePeriodMs > 0) {
      const key = `probe:${run}`;
      this.#probe = new MemberProbe({ key, periodMs: probePeriodMs, connection: () => this.#connection }, startedAt);
    }
    this.#looking = repeatLook(() => this.#look(), LOOK_PERIOD_MS, this.#stop.signal);
  }

  /** Acknowledged writes so far. */
  get acknowledged(): number {
    return this.#writer.acknowledged.length;
  }

  get errors(): number {
    return this.#writer.errors;
  }

  async firstWrite(): Promise<void> {
    const deadline = performance.now() + VERIFY_MS;
    while (this.acknowledged === 0 || !this.#hasProbed()) {
      if (performance.now() > deadline) {
        await this.#end();
        throw new Error(`no write acknowledged within ${VERIFY_MS} ms: ${JSON.stringify(this.#writer.errorKinds)}`);
      }
      await sleep(20);
    }
  }

  /** The gaps since the start or the last lap; measuring starts anew. For one run with several phases. */
  lap(): LedgerGaps {
    const now = performance.now();
    return formatGaps(this.#writer.gap.reset(now), this.#probe?.gap.reset(now));
  }

  /** Stops, then looks for every acknowledged key on the primary, and with `everywhere` on every replica as well. */
  async finish({ everywhere = false } = {}): Promise<LedgerReport> {
    await this.#writer.stop(VERIFY_MS);
    const now = performance.now();
    const gaps = formatGaps(this.#writer.gap.longest(now), this.#probe?.gap.longest(now));
    const twoPrimariesMs = Math.round(this.#probe?.overlap.longestMs ?? 0);
    try {
      await this.#look();
      const { attempted, acknowledged, errors, errorKinds } = this.#writer;
      const lost = await this.#findLost(acknowledged);
      const lostAtMs = lost.map((key) => performance.timeOrigin + (this.#writer.acknowledgedAtMs.get(key) ?? 0));
      const lostOnReplicas = everywhere ? await this.#findLostOnMembers(acknowledged) : {};
      return {
        ...gaps,
        startedAtMs: this.#startedAtMs,
        attempted,
        acknowledged: acknowledged.length,
        lost,
        lostSpans: findSpans(lostAtMs),
        lostOnReplicas,
        errors,
        errorKinds,
        twoPrimariesMs,
      };
    } finally {
      await this.#end();
    }
  }

  #hasProbed(): boolean {
    return this.#probe === undefined || this.#probe.accepted > 0;
  }

  /** New pods and new passwords, as an application that reads its Secret again would notice them. */
  async #look(): Promise<void> {
    this.#probe?.follow(await listMembers(this.#target));
    const connection = await readLedgerConnection(this.#target);
    this.#connection = connection;
    this.#redis.options.username = connection.username;
    this.#redis.options.password = connection.password;
    if (connection.masterName !== '') this.#redis.options.sentinelPassword = connection.password;
  }

  /** By a client of its own: the writer's may still point at a former primary. */
  async #findLost(keys: readonly string[]): Promise<string[]> {
    const deadline = performance.now() + VERIFY_MS;
    for (;;) {
      const reader = await connectUser(this.#target, this.#connection);
      try {
        // A write proves that this is a primary.
        await reader.set(`verified:${this.#target.name}`, '1');
        return await findMissing(reader, keys);
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await sleep(500);
      } finally {
        reader.disconnect();
      }
    }
  }

  async #findLostOnMembers(keys: readonly string[]): Promise<Record<string, string[]>> {
    const lost: Record<string, string[]> = {};
    for (const member of await listMembers(this.#target)) {
      const deadline = performance.now() + REPLICAS_CATCH_UP_MS;
      let missing = await findMissingAt(member, this.#connection, keys);
      while (missing.length > 0 && performance.now() < deadline) {
        await sleep(500);
        missing = await findMissingAt(member, this.#connection, missing);
      }
      if (missing.length > 0) lost[member.pod] = missing;
    }
    return lost;
  }

  async #end(): Promise<void> {
    this.#stop.abort();
    this.#probe?.close();
    this.#redis.disconnect();
    await this.#looking;
    await this.#target.client.close();
  }
}

function formatGaps(client: Gap, engine: Gap | undefined): LedgerGaps {
  const round = ({ ms, fromMs, toMs }: Gap): Gap => ({
    ms: Math.round(ms),
    fromMs: Math.round(fromMs),
    toMs: Math.round(toMs),
  });
  const clientGap = round(client);
  const engineGap = round(engine ?? { ms: 0, fromMs: 0, toMs: 0 });
  return { longestClientGapMs: clientGap.ms, longestEngineGapMs: engineGap.ms, clientGap, engineGap };
}
