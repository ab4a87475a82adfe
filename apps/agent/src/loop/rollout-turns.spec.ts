import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterObject, RedisClusterSpec } from '#domain';
import { DEFAULT_PLANNER_POLICY, planRedisCluster, takesTurn } from '#planner';
import { EVENT, makeWorld, stepWorld } from '#testing';
import type { World } from '#testing';
import { DisruptionBook } from './disruption-book.ts';

/** RedisClusters of one agent, each in a simulated world of its own, that share the book of disruptions. */
class SimulatedFleet {
  readonly worlds: readonly World[];
  readonly #book = new DisruptionBook();
  readonly #plans = new Map<World, Plan>();
  mostAtOnce = 0;

  constructor(count: number, spec: Partial<RedisClusterSpec>, killChance: number) {
    this.worlds = Array.from({ length: count }, (_, index) => makeWorld({ seed: index + 1, spec, killChance }));
  }

  play(seconds: number): void {
    for (let second = 0; second < seconds; second += 1) for (const world of this.worlds) this.#step(world);
  }

  planOf(index: number): Plan | undefined {
    return this.#plans.get(this.worlds[index] as World);
  }

  imagesOf(index: number): readonly string[] {
    const pods = [...(this.worlds[index]?.pods.values() ?? [])];
    return [...new Set(pods.map(({ image }) => image.replace(/.*:/, '')))];
  }

  #step(world: World): void {
    const key = this.#keyOf(world);
    const made = stepWorld(
      world,
      (snapshot, nowMs) => {
        const disruptionsElsewhere = this.#book.countElsewhere(
          key,
          this.worlds.map((each) => this.#named(each)),
        );
        const plan = planRedisCluster({
          snapshot: { ...snapshot, disruptionsElsewhere },
          nowMs,
          policy: DEFAULT_PLANNER_POLICY,
        });
        this.#book.note(key, plan);
        this.#plans.set(world, plan);
        return plan;
      },
      true,
    );
    const turns = [...this.#plans.values()].filter(({ status }) => takesTurn(status.rollout)).length;
    if (made !== undefined) this.mostAtOnce = Math.max(this.mostAtOnce, turns);
  }

  #keyOf(world: World): string {
    return `shop/orders-${this.worlds.indexOf(world)}`;
  }

  #named(world: World): RedisClusterObject {
    const resource = world.resource as RedisClusterObject;
    return { ...resource, metadata: { ...resource.metadata, name: `orders-${this.worlds.indexOf(world)}` } };
  }
}

const BAD = { engine: { type: 'Redis', version: '8.0', image: 'docker.io/library/redis:no-such' } } as const;
const MENDED = { engine: { type: 'Redis', version: '8.2', image: 'docker.io/library/redis:8.2' } } as const;
const NEW = { resources: { requests: { cpu: '70m' } } } as const;

describe('turns of rollouts among RedisClusters of one agent', () => {
  it.each([
    ['Replication', 0],
    ['Sentinel', 0.15],
  ] as const)(
    'mode %s: two bad images hold nobody up for ever (agent killed after an action: %d)',
    (mode, killChance) => {
      const fleet = new SimulatedFleet(4, { mode, storage: { type: 'PersistentVolume', size: '1Gi' } }, killChance);
      const good = [2, 3];
      const bad = [0, 1];
      const edit = (indices: readonly number[], spec: Partial<RedisClusterSpec>): void =>
        indices.forEach((index) => EVENT.editSpec(spec)(fleet.worlds[index] as World));
      const rollouts = (indices: readonly number[]) => indices.map((index) => fleet.planOf(index)?.status.rollout);
      const phases = (indices: readonly number[]) => indices.map((index) => fleet.planOf(index)?.status.phase);

      fleet.play(25);
      edit(bad, BAD);
      fleet.play(15);
      edit(good, NEW);
      fleet.play(15);
      expect(rollouts(good)).toMatchObject([{ reason: 'WaitingForTurn' }, { reason: 'WaitingForTurn' }]);

      fleet.play(200);
      expect(phases(good)).toEqual(['Ready', 'Ready']);
      expect(rollouts(good)).toEqual([undefined, undefined]);
      expect(rollouts(bad)).toMatchObject([
        { turn: 'GivenBack', updated: 1 },
        { turn: 'GivenBack', updated: 1 },
      ]);
      for (const index of bad) {
        const stalled = fleet.planOf(index)?.status.conditions.find(({ type }) => type === 'Stalled');
        expect(stalled).toMatchObject({
          status: 'True',
          message: expect.stringContaining('Other RedisClusters') as string,
        });
      }

      edit(bad, MENDED);
      fleet.play(150);
      expect(phases(bad)).toEqual(['Ready', 'Ready']);
      expect(bad.map((index) => fleet.imagesOf(index))).toEqual([['8.2'], ['8.2']]);
      expect(fleet.worlds.flatMap(({ violations }) => violations)).toEqual([]);
      expect(fleet.mostAtOnce).toBe(2);
    },
    120_000,
  );
});
