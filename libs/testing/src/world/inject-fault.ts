/** One seeded fault: what kills, cuts off or removes something, as people, nodes and networks do. */
import { LABEL } from '#domain';
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
    node.partitioned = false;
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

const raiseSize: Fault = (world) => {
  const { resource } = world;
  if (resource === undefined || resource.spec.mode === 'Standalone' || (resource.spec.size ?? 3) >= 5) return;
  const size = (resource.spec.size ?? 3) + 1;
  world.resource = {
    ...resource,
    metadata: { ...resource.metadata, generation: (resource.metadata.generation ?? 1) + 1 },
    spec: { ...resource.spec, size },
  };
  tell(world, `size is raised to ${size}`);
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
  raiseSize,
  changeTemplate,
];

export const injectFault = (world: World): void => {
  const rare = world.random.chance(0.06);
  const fault = rare ? deleteAll : world.random.pick(FAULTS);
  fault?.(world);
};

/** Ends every lasting fault, so that the world can come to rest. */
export const endFaults = (world: World): void => {
  mendNodes(world);
  if (!isPersistent(world)) tell(world, 'no volumes: what all pods forgot together is declared lost');
};
