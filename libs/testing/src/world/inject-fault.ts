/** One seeded fault: what kills, cuts off or removes something, as people, nodes and networks do. */
import { LABEL } from '#domain';
import { disturbEndings } from './check-endings.ts';
import { injectEdit, mendImage } from './inject-edit.ts';
import { deletePod, killNode, restartContainer, reviveNode } from './run-pods.ts';
import { childKey, isPersistent, podsOf, tell } from './world-state.ts';
import type { SimPod, World } from './world-state.ts';

type Fault = (world: World) => void;

const pickPod = (world: World, component: SimPod['component']): SimPod | undefined =>
  world.random.pick(podsOf(world, component).filter((pod) => !pod.terminating));

const crash: Fault = (world) => {
  const pod = pickPod(world, world.random.chance(0.7) ? 'redis' : 'sentinel');
  if (pod?.process === undefined) return;
  tell(world, `the container of ${pod.name} crashes`);
  restartContainer(world, pod);
};

const deleteOne: Fault = (world) => {
  const pod = pickPod(world, world.random.chance(0.7) ? 'redis' : 'sentinel');
  if (pod !== undefined) deletePod(world, pod);
};

const deletePrimary: Fault = (world) => {
  const pod = podsOf(world, 'redis').find((candidate) => candidate.labels[LABEL.role] === 'primary');
  if (pod !== undefined) deletePod(world, pod);
};

const deleteAll: Fault = (world) => {
  tell(world, 'full outage');
  for (const component of ['redis', 'sentinel'] as const)
    for (const pod of podsOf(world, component)) deletePod(world, pod);
};

const deleteSentinels: Fault = (world) => {
  for (const pod of podsOf(world, 'sentinel')) deletePod(world, pod);
};

const loseNode: Fault = (world) => {
  const node = world.random.pick(world.nodes);
  if (node !== undefined && world.nodes.every((other) => other.up)) killNode(world, node.name);
};

const cutNode: Fault = (world) => {
  const node = world.random.pick(world.nodes);
  if (node === undefined || world.nodes.some((other) => other.partitioned)) return;
  node.partitioned = true;
  tell(world, `node ${node.name} is cut off`);
};

const mendNodes: Fault = (world) => {
  for (const node of world.nodes) {
    if (node.partitioned) tell(world, `node ${node.name} is reachable again`);
    if (node.hidden) tell(world, `the agent reaches node ${node.name} again`);
    if (node.slow) tell(world, `node ${node.name} is quick again`);
    Object.assign(node, { partitioned: false, hidden: false, slow: false });
    reviveNode(world, node.name);
  }
};

const deleteChildByHand: Fault = (world) => {
  const kinds = ['Service', 'ConfigMap', 'PodDisruptionBudget', 'ServiceAccount'];
  const child = world.random.pick([...world.children.values()].filter(({ kind }) => kinds.includes(kind)));
  if (child === undefined) return;
  tell(world, `${child.kind} ${child.metadata.name} is deleted by hand`);
  world.children.delete(childKey(child.kind, child.metadata.name));
};

const changeConfigByHand: Fault = (world) => {
  const pod = pickPod(world, 'redis');
  if (pod?.process?.kind !== 'redis') return;
  pod.process.config = { ...pod.process.config, 'maxmemory-policy': 'allkeys-lru' };
  tell(world, `somebody sets maxmemory-policy on ${pod.name}`);
};

const hideNode: Fault = (world) => {
  const node = world.random.pick(world.nodes);
  if (node === undefined || world.nodes.some((other) => other.hidden)) return;
  node.hidden = true;
  tell(world, `the agent cannot reach node ${node.name} any more; others can`);
};

const slowDown: Fault = (world) => {
  const node = world.random.pick(world.nodes);
  if (node === undefined || node.slow) return;
  node.slow = true;
  tell(world, `node ${node.name} is slow`);
};

const freeze: Fault = (world) => {
  const pod = pickPod(world, world.random.chance(0.8) ? 'redis' : 'sentinel');
  if (pod?.process === undefined) return;
  pod.frozenUntilMs = world.nowMs + 2_000 + world.random.integer(20_000);
  tell(world, `${pod.name} is stopped for ${Math.round((pod.frozenUntilMs - world.nowMs) / 1_000)} s`);
};

const takeNamespace: Fault = (world) => {
  world.foreignUntilMs = world.nowMs + 10_000;
  tell(world, 'another agent owns the namespace for 10 s');
};

/** For the next pass alone: the agent's clock is put right by the pass after it. */
const jumpClock: Fault = (world) => {
  world.clockJumpMs = world.random.chance(0.5) ? 3_600_000 : -3_600_000;
  tell(world, `the clock of the agent jumps by ${world.clockJumpMs / 1_000} s`);
};

/** Another pod template: a rollout begins, or one that is on has to begin anew; half of them are taken back soon. */
const changeTemplate: Fault = (world) => {
  const { resource } = world;
  if (resource === undefined) return;
  const cpu = `${world.random.pick([50, 60]) ?? 50}m`;
  world.resource = {
    ...resource,
    metadata: { ...resource.metadata, generation: (resource.metadata.generation ?? 1) + 1 },
    spec: { ...resource.spec, resources: { requests: { cpu } } },
  };
  tell(world, `the pods shall have ${cpu} of CPU`);
};

const FAULTS: readonly Fault[] = [
  crash,
  crash,
  deleteOne,
  deleteOne,
  deletePrimary,
  deleteSentinels,
  loseNode,
  cutNode,
  mendNodes,
  mendNodes,
  deleteChildByHand,
  changeConfigByHand,
  changeTemplate,
  hideNode,
  freeze,
  freeze,
  slowDown,
  slowDown,
  takeNamespace,
  jumpClock,
  injectEdit,
  injectEdit,
  injectEdit,
];

export const injectFault = (world: World): void => {
  disturbEndings(world);
  const rare = world.random.chance(0.06);
  const fault = rare ? deleteAll : world.random.pick(FAULTS);
  fault?.(world);
};

/** Ends every lasting fault, so that the world can come to rest. */
export const endFaults = (world: World): void => {
  mendNodes(world);
  mendImage(world);
  world.foreignUntilMs = 0;
  if (!isPersistent(world)) tell(world, 'no volumes: what all pods forgot together is declared lost');
};
