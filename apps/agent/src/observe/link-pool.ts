/**
 * One standing connection to each data pod and each Sentinel, found by pod. A pod with another uid or address is another
 * process: its old connection is closed and never used for the new one. A connection that the other side closed wakes
 * the RedisCluster at once; it is the fastest news of a dead process. Whether it was one is asked at once too, by two
 * fresh connections (04, proof of death a): what is kept of that holds for one uid and address, until anything answers.
 */
import { REDIS_PORT, SENTINEL_PORT } from '#domain';
import type { SeenExit } from '#domain';
import { RedisLink, SentinelLink, WITNESS_GAP_MS, WITNESS_PATIENCE_MS, WITNESS_TIMEOUT_MS, witnessExit } from '#redis';
import type { ConnectionEnd, LinkOptions, RedisCredentials } from '#redis';
import type { PodProjection } from './project-pod.ts';

export type CredentialsSource = (refusals: number) => Promise<RedisCredentials | undefined>;

export interface LinkPoolSettings {
  /** `owner` is the key of the RedisCluster. SELF is not told. */
  readonly onEnd: (owner: string, pod: string, end: ConnectionEnd) => void;
  /** A Sentinel says that it moved to another primary, or holds the one it has for dead. */
  readonly onSentinelNews: (owner: string, pod: string, channel: string) => void;
  /** On the clock that snapshots are dated by. */
  readonly nowMs: () => number;
}

/** What every Sentinel says about a failover, its own or another's. */
const SENTINEL_CHANNELS = ['+switch-master', '+odown', '+failover-end', '+promoted-slave'] as const;
/** The proof is worth most while it is fresh; whoever was dead this long is Sentinel's or a person's business. */
const EXIT_HOLDS_MS = 120_000;

interface Entry<L> {
  readonly uid: string;
  readonly ip: string;
  readonly link: L;
  exit?: SeenExit;
}
interface Wanted {
  readonly owner: string;
  readonly pod: PodProjection;
  readonly port: number;
  readonly credentials: CredentialsSource;
}
interface Closable {
  close(): void;
}

export class LinkPool {
  readonly #settings: LinkPoolSettings;
  /** By owner, then by pod name. */
  readonly #redis = new Map<string, Map<string, Entry<RedisLink>>>();
  readonly #sentinels = new Map<string, Map<string, Entry<SentinelLink>>>();

  constructor(settings: LinkPoolSettings) {
    this.#settings = settings;
  }

  /** undefined while the pod has no address. */
  redis(owner: string, pod: PodProjection, credentials: CredentialsSource): RedisLink | undefined {
    return this.#obtain(
      this.#redis,
      { owner, pod, port: REDIS_PORT, credentials },
      (options) => new RedisLink(options),
    );
  }

  sentinel(owner: string, pod: PodProjection, credentials: CredentialsSource): SentinelLink | undefined {
    const wanted = { owner, pod, port: SENTINEL_PORT, credentials };
    return this.#obtain(this.#sentinels, wanted, (options) => new SentinelLink(options));
  }

  /** How this pod's process was seen to end; undefined when nothing proves that, or it was another pod of the name. */
  exitOf(owner: string, pod: PodProjection): SeenExit | undefined {
    const entry = this.#redis.get(owner)?.get(pod.name);
    if (entry?.exit === undefined || entry.uid !== pod.uid || entry.ip !== pod.ip) return undefined;
    return this.#settings.nowMs() - entry.exit.closedAtMs > EXIT_HOLDS_MS ? undefined : entry.exit;
  }

  /** Something answered there. */
  forgetExit(owner: string, pod: string): void {
    const entry = this.#redis.get(owner)?.get(pod);
    if (entry !== undefined) delete entry.exit;
  }

  /** True while the end of some pod's process is proven: the pass is in a hurry. */
  sawExit(owner: string): boolean {
    const nowMs = this.#settings.nowMs();
    return [...(this.#redis.get(owner)?.values() ?? [])].some(
      ({ exit }) => exit !== undefined && nowMs - exit.closedAtMs < EXIT_HOLDS_MS,
    );
  }

  /** The connection that the last pass used, for executors. */
  findRedis(owner: string, pod: string): RedisLink | undefined {
    return this.#redis.get(owner)?.get(pod)?.link;
  }
  findSentinel(owner: string, pod: string): SentinelLink | undefined {
    return this.#sentinels.get(owner)?.get(pod)?.link;
  }

  /** Closes the connections to pods of this owner that are no more. */
  retain(owner: string, pods: readonly PodProjection[]): void {
    const present = new Set(pods.map((pod) => pod.name));
    for (const links of [this.#redis, this.#sentinels]) closeOthers(links.get(owner), present);
  }

  closeOwner(owner: string): void {
    this.retain(owner, []);
    this.#redis.delete(owner);
    this.#sentinels.delete(owner);
  }

  closeAll(): void {
    for (const owner of [...this.#redis.keys(), ...this.#sentinels.keys()]) this.closeOwner(owner);
  }

  #obtain<L extends Closable>(
    links: Map<string, Map<string, Entry<L>>>,
    wanted: Wanted,
    open: (options: LinkOptions) => L,
  ): L | undefined {
    const { owner, pod, port, credentials } = wanted;
    if (pod.ip === undefined) return undefined;
    const ofOwner = links.get(owner) ?? new Map<string, Entry<L>>();
    links.set(owner, ofOwner);
    const present = ofOwner.get(pod.name);
    if (present?.uid === pod.uid && present.ip === pod.ip) return present.link;
    present?.link.close();
    const entry: Entry<L> = {
      uid: pod.uid,
      ip: pod.ip,
      link: open({
        host: pod.ip,
        port,
        credentials,
        onEnd: (end) => void this.#ended(entry, wanted, end),
        ...(port === SENTINEL_PORT
          ? {
              channels: SENTINEL_CHANNELS,
              onMessage: (channel) => this.#settings.onSentinelNews(owner, pod.name, channel),
            }
          : {}),
      }),
    };
    ofOwner.set(pod.name, entry);
    return entry.link;
  }

  /** Tells of the end, and once more when it is known to have been an exit: a pass before that can only wait for it. */
  async #ended(entry: Entry<Closable>, { owner, pod, port }: Wanted, end: ConnectionEnd): Promise<void> {
    if (end === 'SELF') return;
    const tell = (): void => this.#settings.onEnd(owner, pod.name, end);
    if (port !== REDIS_PORT || end === 'TIMEOUT') {
      tell();
      return;
    }
    const closedAtMs = this.#settings.nowMs();
    if (!(await witnessExit({ host: entry.ip, port, ...WITNESS }, tell))) return;
    entry.exit = { closedAtMs, refusedTwice: true };
    tell();
  }
}

const WITNESS = { gapMs: WITNESS_GAP_MS, timeoutMs: WITNESS_TIMEOUT_MS, patienceMs: WITNESS_PATIENCE_MS };

const closeOthers = (links: Map<string, Entry<Closable>> | undefined, present: ReadonlySet<string>): void => {
  for (const [name, entry] of links ?? []) {
    if (present.has(name)) continue;
    entry.link.close();
    links?.delete(name);
  }
};
