/**
 * From sending the mutation updateRedisCluster until the agent has applied the new generation and acks it, one change after
 * the other over the fleet. The member's API server is not in it: a real agent adds its server-side apply, which the
 * bench `skeleton` measures on real clusters.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expectNoUserErrors } from '../../tools/fleet/member-cluster.ts';
import { objectOf } from './fleet-model.ts';
import type { GraphqlClient } from '../../tools/fleet/graphql-client.ts';
import { monotonicMs } from './simulator/messages.ts';

const CHANGES = 300;
const LIMIT_MS = 30_000;
/** A pause between two, so that they meet the hub at different moments of its own rounds. */
const PAUSE_MS = 13;
/** A RedisCluster of Sentinel, as the model makes them, in the words of the API. */
const SPEC = {
  engine: { type: 'REDIS', version: '8.0' },
  mode: 'SENTINEL',
  size: 3,
  resources: { requests: { memory: '256Mi', cpu: '100m' }, limits: { memory: '512Mi' } },
};
const MUTATION = `mutation U($input: UpdateRedisClusterInput!) {
  updateRedisCluster(input: $input) { redisCluster { generation } userErrors { code field message } } }`;

interface Answer {
  readonly updateRedisCluster: {
    readonly redisCluster: { readonly generation: number } | null;
    readonly userErrors: readonly {
      readonly code: string;
      readonly field: readonly string[] | null;
      readonly message: string;
    }[];
  };
}

/** What of a stage it takes to change an object and to see it applied. */
export interface ChangeableFleet {
  readonly clusters: number;
  readonly simulator: { applied(hubUid: string, hubGeneration: number): Promise<number> };
  hub(): { readonly api: GraphqlClient };
}

/** Changes objects of the fleet, and remembers which generation each has. */
export class FleetChanger {
  readonly #stage: ChangeableFleet;
  readonly #generations = new Map<string, number>();
  #changes = 0;

  constructor(stage: ChangeableFleet) {
    this.#stage = stage;
  }

  /** In ms, one a change. */
  async measure(): Promise<number[]> {
    const latenciesMs: number[] = [];
    const until = monotonicMs() + LIMIT_MS;
    for (let change = 0; change < CHANGES && monotonicMs() < until; change += 1) {
      latenciesMs.push(await this.changeOne());
      await sleep(PAUSE_MS);
    }
    return latenciesMs;
  }

  /** Ms from the request to the ack of one change. */
  async changeOne(): Promise<number> {
    this.#changes += 1;
    // A stride that has no divisor with any fleet of round size walks over all of it.
    const agent = (this.#changes * 7_919) % this.#stage.clusters;
    const { hubUid } = objectOf(agent, 0);
    const before = this.#generations.get(hubUid) ?? 1;
    const applied = this.#stage.simulator.applied(hubUid, before + 1);
    const config = { 'maxmemory-policy': 'allkeys-lru', 'slowlog-max-len': String(100 + this.#changes) };
    const beganAtMs = monotonicMs();
    const { updateRedisCluster } = await this.#stage.hub().api.request<Answer>(MUTATION, {
      input: {
        id: Buffer.from(`RedisCluster:${hubUid}`).toString('base64url'),
        expectedGeneration: before,
        spec: { ...SPEC, config },
      },
    });
    expectNoUserErrors(updateRedisCluster);
    this.#generations.set(hubUid, before + 1);
    return (await applied) - beganAtMs;
  }
}
