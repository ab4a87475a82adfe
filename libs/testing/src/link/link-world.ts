/**
 * A member cluster and a hub for the agent's half of the link: a fake API server over HTTP with a real client and a real
 * reflector on it, and a fake hub over TLS. The test makes the link itself from `settings` and `parts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatObjectKey } from '#domain';
import type { Clock, KubeObject, ObjectKey, RedisClusterObject, Scope } from '#domain';
import { RESOURCE, createKubeClient, startReflector } from '#kube';
import type { KubeClient, Reflector } from '#kube';
import { FakeKubeServer, connectFakeKube } from '../kube/index.ts';
import { agentLimits, type TestLimits } from './agent-limits.ts';
import { FakeHub } from './fake-hub.ts';

const clock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Polls until it holds; throws after the time-out (default 8 s). */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 8_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await sleep(20);
  }
}

interface ToldEvent {
  readonly key: ObjectKey;
  readonly severity: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

interface WorldSettings {
  readonly hubAddress: string;
  readonly hubCa: string;
  readonly enrolmentToken: string;
  readonly agentVersion: string;
  readonly instanceId: string;
  readonly scope: Scope;
  readonly namespace: string;
  readonly limits: TestLimits;
}

interface WorldParts {
  readonly client: KubeClient;
  readonly store: {
    list(): readonly RedisClusterObject[];
    get(key: ObjectKey): RedisClusterObject | undefined;
    onChange(listener: (key: ObjectKey) => void): () => void;
    isSynced(): boolean;
  };
  readonly events: { onEvent(listener: (event: ToldEvent) => void): () => void };
  readonly numbersOf: () => undefined;
  readonly crdSchemaHash: () => string;
  readonly clock: Clock;
  readonly fence: () => boolean;
  readonly log: () => undefined;
  readonly random: () => number;
  readonly silence: { readonly pingAfterMs: number; readonly goneAfterMs: number };
}

interface Stoppable {
  start(): void;
  stop(): Promise<void>;
}

export class LinkWorld {
  readonly kube: FakeKubeServer;
  readonly client: KubeClient;
  readonly hub: FakeHub;
  /** What the lease says. */
  fence = true;
  /** Hands an event to the link. */
  tellEvent: (event: ToldEvent) => void = () => undefined;
  readonly #abort = new AbortController();
  readonly #reflector: Reflector<RedisClusterObject>;
  readonly #listeners = new Set<(key: ObjectKey) => void>();
  readonly #links: Stoppable[] = [];

  private constructor(kube: FakeKubeServer, client: KubeClient, hub: FakeHub) {
    this.kube = kube;
    this.client = client;
    this.hub = hub;
    this.#reflector = startReflector<RedisClusterObject>({
      client,
      resource: RESOURCE.redisCluster,
      clock,
      signal: this.#abort.signal,
      project: (object) => object as RedisClusterObject,
      backoffMs: { first: 20, longest: 50 },
      onChange: (key) => {
        const [namespace = '', name = ''] = key.split('/');
        for (const listener of this.#listeners) listener({ namespace, name });
      },
    });
  }

  static async start(): Promise<LinkWorld> {
    const kube = await FakeKubeServer.start();
    const client = createKubeClient(connectFakeKube(kube), { userAgent: 'test', requestTimeoutMs: 2_000 });
    const hub = await FakeHub.start();
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
    return new LinkWorld(kube, client, hub);
  }

  settings(): WorldSettings {
    return {
      hubAddress: this.hub.address,
      hubCa: this.hub.certificates.caPem,
      enrolmentToken: 'token-1',
      agentVersion: '0.1.0',
      instanceId: 'i1',
      scope: { kind: 'CLUSTER' },
      namespace: 'atoll-system',
      limits: agentLimits(),
    };
  }

  /** Reconnects after the shortest pause; a silent hub is given up after 2 s. */
  parts(): WorldParts {
    return {
      client: this.client,
      store: {
        list: () => [...this.#reflector.entries()].map(([, object]) => object),
        get: (key: ObjectKey) => this.#reflector.get(formatObjectKey(key)),
        onChange: (listener: (key: ObjectKey) => void) => {
          this.#listeners.add(listener);
          return () => void this.#listeners.delete(listener);
        },
        isSynced: () => this.#reflector.synced && this.#reflector.watching,
      },
      events: {
        onEvent: (listener: (event: ToldEvent) => void) => {
          this.tellEvent = listener;
          return () => undefined;
        },
      },
      numbersOf: () => undefined,
      crdSchemaHash: () => 'c'.repeat(64),
      clock,
      fence: () => this.fence,
      log: () => undefined,
      random: () => 0,
      silence: { pingAfterMs: 400, goneAfterMs: 2_000 },
    };
  }

  /** Starts the link, and stops it with the world. */
  run<L extends Stoppable>(link: L): L {
    this.#links.push(link);
    link.start();
    return link;
  }

  /** A RedisCluster in namespace shop. */
  find(name: string): Promise<RedisClusterObject | undefined> {
    return this.client.find<RedisClusterObject>(RESOURCE.redisCluster, { namespace: 'shop', name });
  }

  /** How many writes a RedisCluster has seen. */
  writesTo(name: string): number {
    const isWrite = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method !== 'GET' && path.endsWith(`/redisclusters/${name}`);
    return this.kube.requests.filter(isWrite).length;
  }

  /** Changes the spec as a person with kubectl edit. */
  edit(name: string, spec: Record<string, unknown>): Promise<KubeObject> {
    const at = { namespace: 'shop', name };
    return this.client.patchMerge(RESOURCE.redisCluster, at, { spec }, { fieldManager: 'kubectl-edit' });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.stop()));
    this.#abort.abort();
    await this.#reflector.done;
    await this.hub.kill();
    await this.client.close();
    await this.kube.stop();
  }
}
