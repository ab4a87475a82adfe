/**
 * RedisOperation Restart: each asked pod is replaced once, by the roll-out, in its order and under its rules. Done when
 * none of the pods that ran at the beginning is left and their successors are ready.
 */
import type { OperationStep } from '#domain';
import type { ClusterView, DataPod, SentinelPod } from '../cluster-view.ts';
import { notedOf, verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind } from './operation-kind.ts';
import { POD_NOTE, isScaledAway } from './restarts-asked.ts';

type AnyPod = DataPod | SentinelPod;

const podsOf = (view: ClusterView): readonly AnyPod[] => [...view.dataPods, ...view.sentinelPods];

export const restartPods: OperationKind = {
  begin: ({ operation, view }) => {
    const pods = podsOf(view);
    const asked = operation.spec.restart?.pods ?? pods.map(({ name }) => name);
    const unknown = asked.filter((name) => !pods.some((pod) => pod.name === name));
    if (unknown.length > 0) return verdict('Failed', 'NoSuchPod', `There is no pod ${unknown.join(', ')}.`);
    const chosen = pods.filter(({ name }) => asked.includes(name));
    return verdict('Running', 'Restarting', `${chosen.length} pods are restarted one after another.`, {
      steps: chosen.map(({ name }) => ({ name, state: 'Pending' })),
      noted: Object.fromEntries(chosen.map(({ name, uid }) => [`${POD_NOTE}${name}`, uid])),
    });
  },
  proceed: (context) => {
    const steps = listSteps(context);
    const left = steps.filter(({ state }) => state !== 'Done').map(({ name }) => name);
    if (left.length === 0) return verdict('Succeeded', 'Restarted', `${steps.length} pods were restarted.`, { steps });
    const waits = context.status.rollout?.waitingFor;
    const message = `Still to come: ${left.join(', ')}.${waits === undefined ? '' : ` ${waits}`}`;
    return verdict('Running', 'Restarting', message, { steps });
  },
  cancel: (context) => {
    const steps = listSteps(context);
    const done = steps.filter(({ state }) => state !== 'Pending').length;
    const message = `It was called off after ${done} of ${steps.length} pods.`;
    return verdict('Cancelled', 'Cancelled', message, { steps });
  },
};

const listSteps = ({ operation, view }: OperationContext): readonly OperationStep[] => {
  const names = Object.keys(operation.status?.noted ?? {})
    .filter((note) => note.startsWith(POD_NOTE))
    .map((note) => note.slice(POD_NOTE.length));
  const pods = podsOf(view);
  return names.map((name) => {
    const pod = pods.find((one) => one.name === name);
    if (pod === undefined && isScaledAway(view, name)) return { name, state: 'Done', message: 'It was scaled away.' };
    if (pod?.uid === notedOf(operation, `${POD_NOTE}${name}`)) return { name, state: 'Pending' };
    return { name, state: pod?.ready === true ? 'Done' : 'Running' };
  });
};
