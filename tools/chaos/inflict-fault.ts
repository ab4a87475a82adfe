import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalCluster } from '../local-kubernetes/index.ts';
import type { ChosenFault, Fault } from './choose-fault.ts';

export interface ChaosTarget {
  readonly cluster: LocalCluster;
  readonly namespace: string;
  readonly name: string;
}

interface Named {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  }[];
}

const AGENT_NAMESPACE = 'atoll-system';
const ROLE = 'redis.atoll.dev/role';

async function names(
  target: ChaosTarget,
  kind: string,
  selector: string,
  namespace = target.namespace,
): Promise<Named['items']> {
  const { stdout, exitCode } = await target.cluster.kubectl([
    'get',
    kind,
    '-n',
    namespace,
    '-l',
    selector,
    '-o',
    'json',
  ]);
  if (exitCode !== 0) return [];
  return [...(JSON.parse(stdout) as Named).items].sort((left, right) =>
    left.metadata.name.localeCompare(right.metadata.name),
  );
}

async function choosePod(target: ChaosTarget, { fault, pick }: ChosenFault): Promise<string | undefined> {
  const component = fault.includes('sentinel') ? 'sentinel' : 'redis';
  const selector = `app.kubernetes.io/instance=${target.name},app.kubernetes.io/component=${component}`;
  const pods = await names(target, 'pods', selector);
  const wanted = fault.includes('primary') ? 'primary' : fault.includes('replica') ? 'replica' : undefined;
  const candidates = wanted === undefined ? pods : pods.filter((pod) => pod.metadata.labels?.[ROLE] === wanted);
  return candidates[Math.floor(pick * candidates.length)]?.metadata.name;
}

async function remove(target: ChaosTarget, kind: string, name: string, namespace = target.namespace): Promise<void> {
  await target.cluster.kubectl(['delete', kind, name, '-n', namespace, '--wait=false', '--ignore-not-found']);
}

type Inflict = (target: ChaosTarget, chosen: ChosenFault) => Promise<void>;

const deletePod: Inflict = async (target, chosen) => {
  const pod = await choosePod(target, chosen);
  if (pod !== undefined) await remove(target, 'pod', pod);
};

/** Sends a signal to the server of a pod from the node: inside the container its process 1 is shielded from it. */
async function signalServer(target: ChaosTarget, pod: string, signal: 'KILL' | 'STOP' | 'CONT'): Promise<void> {
  const argv = ['get', 'pod', pod, '-n', target.namespace, '-o', 'jsonpath={.spec.nodeName} {.metadata.uid}'];
  const [nodeName = '', uid = ''] = (await target.cluster.kubectl(argv)).stdout.split(' ');
  if (uid === '') return;
  const node = target.cluster.node(numberOf(nodeName));
  const script = `for p in /proc/[0-9]*; do grep -qs '${uid}' $p/cgroup && grep -qs redis-server $p/cmdline && kill -${signal} "\${p#/proc/}"; done; true`;
  await node.exec(['sh', '-c', script]);
}

const numberOf = (nodeName: string): number => Number(nodeName.slice(nodeName.lastIndexOf('-') + 1));

const killServer: Inflict = async (target, chosen) => {
  const pod = await choosePod(target, chosen);
  if (pod !== undefined) await signalServer(target, pod, 'KILL');
};

/** Between one and thirteen seconds: shorter and longer than what Sentinel waits. */
const lastingMs = (pick: number): number => 1_000 + Math.floor(pick * 12_000);

const stopServer: Inflict = async (target, chosen) => {
  const pod = await choosePod(target, chosen);
  if (pod === undefined) return;
  await signalServer(target, pod, 'STOP');
  await sleep(lastingMs(chosen.pick));
  await signalServer(target, pod, 'CONT');
};

const cutNodeOff: Inflict = async ({ cluster }, { pick }) => {
  const node = cluster.node(1 + Math.floor(pick * cluster.nodeCount));
  await node.partition('all');
  await sleep(lastingMs(pick));
  await node.heal();
};

/** A RedisOperation, as a person makes it with kubectl. */
const operate =
  (type: 'Failover' | 'Restart'): Inflict =>
  async (target, { pick }) => {
    const object = {
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { name: `chaos-${type.toLowerCase()}-${Math.floor(pick * 1e9)}`, namespace: target.namespace },
      spec: { redisCluster: target.name, type },
    };
    await target.cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(object) });
  };

const INFLICT: Readonly<Record<Fault, Inflict>> = {
  'kill the server process of the primary': killServer,
  'kill the server process of a replica': killServer,
  'delete the pod of the primary': deletePod,
  'delete the pod of a replica': deletePod,
  'delete a sentinel pod': deletePod,
  'stop the server process of the primary for a while': stopServer,
  'stop the server process of a replica for a while': stopServer,
  'cut a node off for a while': cutNodeOff,
  'ask for a switchover': operate('Failover'),
  'ask for a rolling restart': operate('Restart'),
  'delete the connection Secret': (target) => remove(target, 'secret', `${target.name}-connection`),
  'delete the primary Service': (target) => remove(target, 'service', target.name),
  'delete a ConfigMap': async (target, { pick }) => {
    const maps = (await names(target, 'configmaps', `app.kubernetes.io/instance=${target.name}`)).filter(
      (each) => !each.metadata.name.endsWith('-record'),
    );
    const chosen = maps[Math.floor(pick * maps.length)];
    if (chosen) await remove(target, 'configmap', chosen.metadata.name);
  },
  'delete the disruption budget': async (target, { pick }) => {
    const budgets = await names(target, 'pdb', `app.kubernetes.io/instance=${target.name}`);
    const chosen = budgets[Math.floor(pick * budgets.length)];
    if (chosen) await remove(target, 'pdb', chosen.metadata.name);
  },
  'delete the agent pod': async (target) => {
    for (const pod of await names(target, 'pods', 'app.kubernetes.io/name=atoll-agent', AGENT_NAMESPACE)) {
      await remove(target, 'pod', pod.metadata.name, AGENT_NAMESPACE);
    }
  },
  'restart the API server': async ({ cluster }) => {
    await cluster.apiServer.kill();
    await cluster.apiServer.start();
  },
};

/** Does what was chosen. A fault that finds no target (a primary between two failovers, say) does nothing. */
export const inflictFault = (target: ChaosTarget, chosen: ChosenFault): Promise<void> =>
  INFLICT[chosen.fault](target, chosen);
