/**
 * Looks at what agents write in their member clusters: every version of every object, so that nothing applied twice with
 * another content, and nothing deleted, escapes. And keeps objects changing at the hub, as people and their tools do.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ANNOTATION } from '#domain';
import type { HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { mutateRedisCluster } from '../../../../tools/fleet/redis-cluster.ts';
import type { RuleMember } from '../rules/rule-member.ts';
import { SPEC_INPUT } from './process-world.ts';

const COLLECTION = 'redis.atoll.dev/v1alpha1/redisclusters';

/** Collects complaints about one member cluster from now on. */
export function watchWrites(member: RuleMember, complaints: string[]): void {
  const hashes = new Map<string, string>();
  const newest = new Map<string, number>();
  member.kube.store.subscribe(({ type, object, collection }) => {
    if (collection !== COLLECTION) return;
    const { name, annotations = {} } = object.metadata;
    if (type === 'DELETED') complaints.push(`${name} was deleted`);
    const generation = Number(annotations[ANNOTATION.hubGeneration]);
    const hash = annotations[ANNOTATION.specHash] ?? '';
    const version = `${name} ${generation}`;
    if ((hashes.get(version) ?? hash) !== hash) complaints.push(`${version} has two contents`);
    if (generation < (newest.get(name) ?? 0)) complaints.push(`${name} went back to generation ${generation}`);
    hashes.set(version, hash);
    newest.set(name, generation);
  });
}

export interface Changed {
  readonly id: string;
  readonly member: RuleMember;
  readonly name: string;
  /** Accepted last; what the member cluster must have in the end. */
  size: number;
  /** Set last by the "operator" of the member cluster. */
  readyPods: number;
}

/** Changes objects in turn until told to stop, at whichever hub answers. */
export async function keepChanging(
  objects: readonly Changed[],
  hubs: () => readonly HubProcess[],
  signal: AbortSignal,
): Promise<{ readonly accepted: number; readonly unanswered: number }> {
  let [accepted, unanswered] = [0, 0];
  for (let turn = 0; !signal.aborted; turn += 1) {
    const object = objects[turn % objects.length];
    const hub = hubs()[turn % hubs().length];
    if (object === undefined || hub === undefined) break;
    object.readyPods += 1;
    await object.member.setStatus(object.name, { phase: 'Ready', readyPods: object.readyPods });
    const size = 1 + (turn % 5);
    const spec = { ...SPEC_INPUT, mode: 'REPLICATION', size: size + 1 };
    try {
      const { userErrors } = await mutateRedisCluster(hub.api, 'update', {
        id: object.id,
        expectedGeneration: null,
        spec,
      });
      if (userErrors.length > 0) throw new Error(userErrors[0]?.message);
      object.size = size + 1;
      accepted += 1;
    } catch {
      // Not known whether it was accepted: the next answered change of this object settles it.
      object.size = -1;
      unanswered += 1;
    }
    await sleep(20);
  }
  return { accepted, unanswered };
}

/** After the load: one more change of each whose last one was not answered. */
export async function settleUnanswered(objects: readonly Changed[], hub: HubProcess): Promise<void> {
  for (const object of objects.filter(({ size }) => size === -1)) {
    const spec = { ...SPEC_INPUT, mode: 'REPLICATION', size: 3 };
    const { userErrors } = await mutateRedisCluster(hub.api, 'update', {
      id: object.id,
      expectedGeneration: null,
      spec,
    });
    if (userErrors.length > 0) throw new Error(userErrors[0]?.message);
    object.size = 3;
  }
}
