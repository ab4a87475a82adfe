/**
 * A member cluster of the rule specs: a fake API server over HTTP, and on it the real link of the agent with a real
 * reflector, which dials the hub through a proxy of its own. Its process can be stopped, killed and started again.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { formatObjectKey, type Clock, type KubeObject, type ObjectKey, type RedisClusterObject } from '#domain';
import { createKubeClient, RESOURCE, startReflector, type KubeClient, type Reflector } from '#kube';
import { digestOf, type ObjectVersion } from '#protocol';
import type { FaultProxy } from '#testing';
import { agentLimits, connectFakeKube, FakeKubeServer } from '#testing';

import { Link, type LinkParts, type LinkSettings } from '../../../agent/src/link/index.ts';
import type { Enrolled } from '../link-fixture.ts';

export const NAMESPACE = 'default';
const STATE = { namespace: 'atoll-system', name: 'atoll-agent-state' } as const;
const HUB_UID = 'redis.atoll.dev/hub-uid';

export interface MemberProcess {
  readonly link: Link;
  readonly reflector: Reflector<RedisClusterObject>;
  readonly abort: AbortController;
  /** False from the kill on: a dead process writes nothing. */
  alive: boolean;
}

interface MemberSettings {
  readonly hubCa: string;
  readonly token: string;
  readonly enrolled: Omit<Enrolled, 'identity'>;
}

type Told = Parameters<Parameters<LinkParts['events']['onEvent']>[0]>[0];

export class RuleMember {
  readonly kube: FakeKubeServer;
  readonly client: KubeClient;
  readonly proxy: FaultProxy;
  readonly agentId: string;
  /** For the helpers of link-fixture.ts, which read ids only. */
  readonly enrolled: Enrolled;
  /** What the link logged, `message {fields}`, oldest first. */
  readonly logged: string[] = [];
  /** Events that the link asked for, `reason name`, oldest first. */
  readonly warned: string[] = [];
  /** Whether the lease is young enough to write. */
  fence = true;
  /** Added to the wall clock of the agent. */
  skewMs = 0;
  /** Changes what the next process starts with. */
  changes: Partial<LinkSettings> = {};
  parts: Partial<LinkParts> = {};
  tellEvent: (event: Told) => void = () => undefined;
  readonly #settings: MemberSettings;
  #process: MemberProcess | undefined;

  private constructor(settings: MemberSettings, kube: FakeKubeServer, client: KubeClient, proxy: FaultProxy) {
    this.#settings = settings;
    this.kube = kube;
    this.client = client;
    this.proxy = proxy;
    this.agentId = settings.enrolled.agentId;
    this.enrolled = settings.enrolled as Enrolled;
  }

  static async start(settings: MemberSettings, proxy: FaultProxy): Promise<RuleMember> {
    const kube = await FakeKubeServer.start();
    const client = createKubeClient(connectFakeKube(kube), { userAgent: 'rules', requestTimeoutMs: 2_000 });
    for (const name of ['kube-system', NAMESPACE])
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return new RuleMember(settings, kube, client, proxy);
  }

  get process(): MemberProcess {
    if (this.#process === undefined) throw new Error('no process of this agent runs');
    return this.#process;
  }

  get link(): Link {
    return this.process.link;
  }

  get isConnected(): boolean {
    return this.#process?.link.state().connected === true;
  }

  /** A new process: its cache is empty, its memory is the ConfigMap. */
  run(): void {
    const abort = new AbortController();
    const listeners = new Set<(key: ObjectKey) => void>();
    const reflector = startReflector<RedisClusterObject>({
      client: this.client,
      resource: RESOURCE.redisCluster,
      clock: this.#clock(),
      signal: abort.signal,
      project: (object) => object as RedisClusterObject,
      backoffMs: { first: 20, longest: 50 },
      onChange: (key) => {
        const [namespace = '', name = ''] = key.split('/');
        for (const listener of listeners) listener({ namespace, name });
      },
    });
    const running = { alive: true };
    const parts = { ...this.#buildParts(reflector, listeners, () => running.alive), ...this.parts };
    const link = new Link({ ...this.#buildSettings(), ...this.changes }, parts);
    this.#process = Object.assign(running, { link, reflector, abort });
    link.start();
  }

  /** As SIGTERM: says goodbye and keeps what it knows. */
  async stop(): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    this.#process = undefined;
    await running.link.stop();
    running.abort.abort();
    await running.reflector.done;
  }

  /** As SIGKILL: nothing more is written. `silently`: the hub is not even told by TCP. */
  async kill({ silently = false } = {}): Promise<void> {
    this.process.alive = false;
    for (const connection of this.proxy.open) {
      if (silently) connection.cutDialler();
      else connection.cut();
    }
    await this.stop();
  }

  async end(): Promise<void> {
    this.proxy.cut();
    await this.stop();
    await this.client.close();
    await this.kube.stop();
    await this.proxy.stop();
  }

  find(name: string): Promise<RedisClusterObject | undefined> {
    return this.client.find<RedisClusterObject>(RESOURCE.redisCluster, { namespace: NAMESPACE, name });
  }

  /** Names of all RedisClusters here. */
  async names(): Promise<string[]> {
    const { items } = await this.client.listAll(RESOURCE.redisCluster);
    return items.map((item) => item.metadata.name).sort();
  }

  /** What is written here with a hub's annotations. */
  async holds(): Promise<ObjectVersion[]> {
    const { items } = await this.client.listAll(RESOURCE.redisCluster);
    return items.flatMap(({ metadata: { annotations = {} } }) => {
      const hubUid = annotations[HUB_UID];
      if (hubUid === undefined) return [];
      const hubGeneration = Number(annotations['redis.atoll.dev/hub-generation']);
      return [{ hubUid, hubGeneration, specHash: annotations['redis.atoll.dev/spec-hash'] ?? '' }];
    });
  }

  async digest(except: readonly string[] = []): Promise<string> {
    return digestOf((await this.holds()).filter(({ hubUid }) => !except.includes(hubUid)));
  }

  /** A person with kubectl. */
  edit(name: string, spec: Record<string, unknown>): Promise<KubeObject> {
    const at = { namespace: NAMESPACE, name };
    return this.client.patchMerge(RESOURCE.redisCluster, at, { spec }, { fieldManager: 'kubectl-edit' });
  }

  create(name: string, spec: Record<string, unknown> = { mode: 'Standalone' }): Promise<KubeObject> {
    const object = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace: NAMESPACE, name },
    };
    return this.client.create({ ...object, spec }, { fieldManager: 'kubectl-create' });
  }

  remove(name: string): Promise<void> {
    return this.client.delete(RESOURCE.redisCluster, { namespace: NAMESPACE, name });
  }

  /** With a finalizer it stays, terminating, when it is deleted; null takes it away. */
  async hold(name: string, finalizers: readonly string[] | null): Promise<void> {
    const at = { namespace: NAMESPACE, name };
    await this.client.patchMerge(RESOURCE.redisCluster, at, { metadata: { finalizers } });
  }

  /** What the operator would write. */
  async setStatus(name: string, status: Record<string, unknown>): Promise<void> {
    const at = { namespace: NAMESPACE, name };
    await this.client.patchMerge(
      RESOURCE.redisCluster,
      at,
      { status },
      { subresource: 'status', fieldManager: 'operator' },
    );
  }

  /** Requests other than GET, as `METHOD name`. */
  writes(): string[] {
    return this.kube.requests
      .filter(({ method, path }) => method !== 'GET' && path.includes('/redisclusters'))
      .map(({ method, path }) => `${method} ${path.split('/redisclusters/')[1] ?? ''}`);
  }

  /** The agent's memory as its ConfigMap has it. */
  async memory(): Promise<Readonly<Record<string, string>>> {
    const found = await this.client.find(RESOURCE.configMap, STATE);
    return (found?.['data'] ?? {}) as Record<string, string>;
  }

  async loseMemory(): Promise<void> {
    await this.client.delete(RESOURCE.configMap, STATE);
  }

  #buildSettings(): LinkSettings {
    const { hubCa, token } = this.#settings;
    return {
      hubAddress: this.proxy.address,
      hubCa,
      enrolmentToken: token,
      agentVersion: '0.1.0',
      instanceId: randomUUID(),
      scope: { kind: 'CLUSTER' },
      namespace: STATE.namespace,
      limits: agentLimits(),
    };
  }

  #clock(): Clock {
    return { nowMs: () => Date.now() + this.skewMs, monotonicMs: () => performance.now() };
  }

  #buildParts(
    reflector: Reflector<RedisClusterObject>,
    listeners: Set<(key: ObjectKey) => void>,
    isAlive: () => boolean,
  ): LinkParts {
    return {
      client: this.client,
      store: {
        list: () => [...reflector.entries()].map(([, object]) => object),
        get: (key) => reflector.get(formatObjectKey(key)),
        onChange: (listener) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        isSynced: () => reflector.synced && reflector.watching,
      },
      events: {
        onEvent: (listener) => {
          this.tellEvent = listener;
          return () => undefined;
        },
      },
      numbersOf: () => undefined,
      crdSchemaHash: () => 'c'.repeat(64),
      clock: this.#clock(),
      fence: () => this.fence && isAlive(),
      warn: (key, reason) => void this.warned.push(`${reason} ${key.name}`),
      log: (_, message, fields) => void this.logged.push(`${message} ${JSON.stringify(fields ?? {})}`),
      random: () => 0,
      silence: { pingAfterMs: 600, goneAfterMs: 2_000 },
    };
  }
}

/** For a member that is to act while the hub hears nothing of it: it must not leave for the hub's silence before that. */
export const PATIENT: Partial<LinkParts> = { silence: { pingAfterMs: 60_000, goneAfterMs: 120_000 } };

/** Long enough for everything that is not held back to arrive. */
export const settle = (): Promise<void> => sleep(400);
