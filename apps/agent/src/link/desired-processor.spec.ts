/**
 * Any order of upserts (late, repeated, with and without create), tombstones, deletions by hand and kills of the agent ends
 * as a reference model says: nothing goes back in generation, nothing is made again after its tombstone, no name is
 * taken from another, and the digest is that of what is there.
 */
import type { RedisClusterObject } from '#domain';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { digestOf } from '#protocol';
import type { Tombstone, Upsert } from '#protocol';
import { agentLimits, FakeKubeServer, buildTombstone, buildUpsert, connectFakeKube } from '#testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentStateStore } from './agent-state-store.ts';
import { DesiredProcessor } from './desired-processor.ts';
import { ManagedIndex } from './managed-index.ts';
import { createMemberApi } from './member-api.ts';

const COLLECTION = 'redis.atoll.dev/v1alpha1/redisclusters';
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
/** c is another object of the hub under the name of a. */
const NAME_OF = { a: 'x', b: 'y', c: 'x' } as const;
type Uid = keyof typeof NAME_OF;

let kube: FakeKubeServer;
let client: KubeClient;
let world = 0;
beforeAll(async () => {
  kube = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(kube), { userAgent: 'test' });
});
afterAll(async () => {
  await client.close();
  await kube.stop();
});

const uid = fc.constantFrom<Uid>('a', 'b', 'c');
const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('upsert' as const),
      uid,
      generation: fc.integer({ min: 1, max: 4 }),
      create: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tombstone' as const), uid }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteByHand' as const), name: fc.constantFrom('x', 'y') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** The rules of 03, as short as they can be said. */
class Model {
  readonly held = new Map<string, { readonly uid: Uid; readonly generation: number }>();
  readonly tombstoned = new Set<Uid>();

  upsert(of: Uid, generation: number, create: boolean): string {
    const name = NAME_OF[of];
    const held = this.held.get(name);
    if (this.tombstoned.has(of)) return 'REJECTED TOMBSTONED';
    if (held === undefined && !create) return 'DELETED_LOCALLY DELETED_LOCALLY';
    if (held !== undefined && held.uid !== of) return 'WAITING NAME_TAKEN';
    if (held !== undefined && held.generation > generation) return 'REJECTED GENERATION_AHEAD';
    this.held.set(name, { uid: of, generation });
    return 'APPLIED';
  }

  tombstone(of: Uid): string {
    if (this.held.get(NAME_OF[of])?.uid === of) this.held.delete(NAME_OF[of]);
    this.tombstoned.add(of);
    return 'DELETED';
  }
}

class Agent {
  readonly #namespace: string;
  readonly #state: AgentStateStore;
  readonly #index: ManagedIndex;
  readonly #processor: DesiredProcessor;

  constructor(namespace: string) {
    this.#namespace = namespace;
    const api = createMemberApi(client, () => true);
    this.#state = new AgentStateStore(api, namespace);
    const list = (): RedisClusterObject[] => kube.store.list(COLLECTION, namespace) as RedisClusterObject[];
    const get = ({ name }: { readonly name: string }): RedisClusterObject | undefined =>
      list().find((object) => object.metadata.name === name);
    this.#index = new ManagedIndex({ list, get, onChange: () => () => undefined, isSynced: () => true }, clock);
    this.#processor = new DesiredProcessor({
      api,
      bounds: {
        scope: { kind: 'CLUSTER' },
        namespace: 'atoll-system',
        limits: agentLimits({ maxDeletes: 99 }),
      },
      state: this.#state,
      index: this.#index,
      clock,
      log: () => undefined,
      random: () => 0,
      signal: new AbortController().signal,
      sendAck: () => undefined,
      alarm: () => undefined,
      sendInventory: () => undefined,
      maxFrameBytes: 1_000_000,
    });
  }

  load(): Promise<void> {
    return this.#state.load();
  }

  async upsert(of: Uid, generation: number, create: boolean): Promise<string> {
    const upsert = buildUpsert(of, generation, {
      namespace: this.#namespace,
      name: NAME_OF[of],
      create,
      size: generation,
    });
    return this.#process([upsert], []);
  }

  async tombstone(of: Uid): Promise<string> {
    const tombstone = buildTombstone(of, { namespace: this.#namespace, name: NAME_OF[of] });
    return this.#process([], [tombstone]);
  }

  async #process(...wanted: [readonly Upsert[], readonly Tombstone[]]): Promise<string> {
    const batch = this.#processor.collect(0);
    await this.#processor.processInto(batch, ...wanted);
    return text(batch.take());
  }

  digest(): string {
    return this.#processor.digest();
  }
}

const text = (outcomes: readonly { readonly state: string; readonly code?: string }[]): string =>
  outcomes.map(({ state, code }) => [state, code].filter(Boolean).join(' ')).join();

async function play(commands: readonly Command[]): Promise<void> {
  world += 1;
  const namespace = `world-${world}`;
  const model = new Model();
  let agent = new Agent(namespace);
  for (const step of commands) {
    if (step.kind === 'upsert') {
      const { uid: of, generation, create } = step;
      expect(await agent.upsert(of, generation, create)).toBe(model.upsert(of, generation, create));
    } else if (step.kind === 'tombstone') expect(await agent.tombstone(step.uid)).toBe(model.tombstone(step.uid));
    else if (step.kind === 'kill') {
      agent = new Agent(namespace);
      await agent.load();
    } else if (model.held.delete(step.name)) await client.delete(RESOURCE.redisCluster, { namespace, name: step.name });
    const versions = [...model.held.values()].map((held) =>
      buildUpsert(held.uid, held.generation, { size: held.generation }),
    );
    expect(agent.digest()).toBe(digestOf(versions));
  }
  const sizes = kube.store
    .list(COLLECTION, namespace)
    .map(({ metadata, spec }) => [metadata.name, (spec as { size: number }).size]);
  expect(Object.fromEntries(sizes)).toEqual(
    Object.fromEntries([...model.held].map(([name, held]) => [name, held.generation])),
  );
}

describe('the processing of desired state', () => {
  it('ends as the model says, for any order of messages and faults', { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 20 }), play), { numRuns: 60 });
  });
});
