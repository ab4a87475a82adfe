/**
 * One standing connection to each data pod and each Sentinel, found by pod. A pod with another uid or address is another
 * process: its old connection is closed and never used for the new one. A connection that the other side closed wakes
 * the RedisCluster at once; it is the fastest news of a dead process.
 */
import { REDIS_PORT, SENTINEL_PORT } from '#domain';
import { RedisLink, SentinelLink } from '#redis';
import type { ConnectionEnd, LinkOptions, RedisCredentials } from '#redis';
import type { PodProjection } from './project-pod.ts';

export type CredentialsSource = () => Promise<RedisCredentials | undefined>;

export interface LinkPoolSettings {
  /** `owner` is the key of the RedisCluster. SELF is not told. */
  readonly onEnd: (owner: string, pod: string, end: ConnectionEnd) => void;
}

interface Entry<L> {
  readonly uid: string;
  readonly ip: string;
  readonly link: L;
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
    wanted: { owner: string; pod: PodProjection; port: number; credentials: CredentialsSource },
    open: (options: LinkOptions) => L,
  ): L | undefined {
    const { owner, pod, port, credentials } = wanted;
    if (pod.ip === undefined) return undefined;
    const ofOwner = links.get(owner) ?? new Map<string, Entry<L>>();
    links.set(owner, ofOwner);
    const present = ofOwner.get(pod.name);
    if (present?.uid === pod.uid && present.ip === pod.ip) return present.link;
    present?.link.close();
    const onEnd = (end: ConnectionEnd): void => {
      if (end !== 'SELF') this.#settings.onEnd(owner, pod.name, end);
    };
    const link = open({ host: pod.ip, port, credentials, onEnd });
    ofOwner.set(pod.name, { uid: pod.uid, ip: pod.ip, link });
    return link;
  }
}

const closeOthers = (links: Map<string, Entry<Closable>> | undefined, present: ReadonlySet<string>): void => {
  for (const [name, entry] of links ?? []) {
    if (present.has(name)) continue;
    entry.link.close();
    links?.delete(name);
  }
};
