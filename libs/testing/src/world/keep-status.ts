/** What outlives a pass: the status, as far as a later plan reads it. What the agent only remembers goes with its process. */
import type { Action, Plan, SetAsideStatus } from '#domain';
import type { World } from './world-state.ts';

export const keepStatus = (world: World, { status }: Plan, done: readonly Action[]): void => {
  if (world.resource === undefined) return;
  const { pods, conditions: _, sentinels: __, ...states } = status;
  const generation = world.resource.metadata.generation ?? 0;
  const shards = [{ name: 'shard-0', pods }];
  const setAside = [...(world.resource.status?.setAside ?? []), ...done.flatMap(asSetAside)];
  world.resource = { ...world.resource, status: { ...states, shards, setAside, observedGeneration: generation } };
};

const asSetAside = (action: Action): readonly SetAsideStatus[] =>
  action.kind === 'SetAside'
    ? [{ pod: action.pod, file: action.file, at: '2026-01-02T00:00:00Z', reason: action.reason }]
    : [];

/** A new process has seen no connection end. */
export const forgetExits = (world: World): void => {
  for (const pod of world.pods.values()) pod.exitSeenAtMs = undefined;
};
