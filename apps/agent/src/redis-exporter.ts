/**
 * The metrics of each Redis and Sentinel, asked when Prometheus asks, over the standing connection that the agent has
 * anyway: no process a pod, nothing kept between scrapes. Invariants: only pods of RedisClusters that this agent owns
 * and whose spec wants it are asked, never an address that a caller names; at most MAX_AT_ONCE pods are asked at a time,
 * and a caller too many is told to come back, so that a storm of scrapes cannot starve the passes.
 */
import { formatObjectKey } from '#domain';
import type { Clock, RedisClusterObject } from '#domain';
import type { MetricFamily } from '#redis';
import type { LinkPool, MemberCache } from './observe/index.ts';
import { namesOf } from './read-data-set.ts';

export interface ScrapeTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly redisCluster: string;
  readonly component: 'redis' | 'sentinel';
  readonly ip: string | undefined;
}

export interface RedisExporterSettings {
  readonly cache: MemberCache;
  readonly links: LinkPool;
  readonly ownsNamespace: (namespace: string) => boolean;
  readonly clock: Clock;
}

const MAX_AT_ONCE = 4;
const MAX_WAITING = 200;

/** Too many scrapes at once. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

export class RedisExporter {
  readonly #settings: RedisExporterSettings;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor(settings: RedisExporterSettings) {
    this.#settings = settings;
  }

  /** Every pod there is something to tell of, in the order of the RedisClusters. */
  targets(): ScrapeTarget[] {
    const { cache, ownsNamespace } = this.#settings;
    return cache.resources().flatMap((resource) => {
      const { namespace = '', name } = resource.metadata;
      if (!ownsNamespace(namespace) || resource.spec.monitoring?.exporter === false) return [];
      return cache.podsOf(formatObjectKey({ namespace, name })).map(({ name: pod, component, ip }) => ({
        namespace,
        pod,
        redisCluster: name,
        component,
        ip,
      }));
    });
  }

  /** `text` is `namespace/pod`, or `redis://IP:port` of a pod; undefined: no pod of ours. */
  find(text: string): ScrapeTarget | undefined {
    const ip = /^rediss?:\/\/(.+):\d+$/.exec(text)?.[1];
    return this.targets().find((target) =>
      ip === undefined ? `${target.namespace}/${target.pod}` === text : target.ip === ip,
    );
  }

  /** Rejects with RedisCallError when the pod does not answer, BusyError when too many are asked already. */
  async read(target: ScrapeTarget): Promise<readonly MetricFamily[]> {
    await this.#enter();
    try {
      return await this.#ask(target);
    } finally {
      this.#underWay -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #enter(): Promise<void> {
    if (this.#underWay >= MAX_AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) throw new BusyError('too many scrapes at once');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#underWay += 1;
  }

  async #ask({ namespace, pod, redisCluster, component }: ScrapeTarget): Promise<readonly MetricFamily[]> {
    const { cache, links, clock } = this.#settings;
    const owner = formatObjectKey({ namespace, name: redisCluster });
    const resource = cache.resource(owner);
    if (resource === undefined) throw new Error('the RedisCluster is gone');
    if (component === 'redis') return this.#require(links.findRedis(owner, pod)).readMetrics(clock.nowMs());
    return this.#require(links.findSentinel(owner, pod)).readMetrics(masterNameOf(resource), clock.nowMs());
  }

  #require<L>(link: L | undefined): L {
    if (link === undefined) throw new Error('there is no connection to this pod yet');
    return link;
  }
}

const masterNameOf = (resource: RedisClusterObject): string => namesOf(resource).masterName;
