/** RedisOperation Plan: tells once what the proposed spec would do to the RedisCluster as it is now, and changes nothing. */
import { buildClusterView } from '../cluster-view.ts';
import { verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind, OperationVerdict } from './operation-kind.ts';
import { previewChange } from './preview-change.ts';

const judge = ({ operation, view, replan }: OperationContext): OperationVerdict => {
  const spec = operation.spec.plan?.spec;
  if (spec === undefined) return verdict('Failed', 'NoSpec', 'There is no spec.plan.spec to tell anything of.');
  try {
    const plan = previewChange({
      snapshot: view.snapshot,
      spec,
      replan,
      refuse: (snapshot) => buildClusterView({ snapshot, nowMs: view.nowMs, policy: view.policy }).refusals,
    });
    const count = `${plan.restarts.length} restarts in about ${plan.predictedSeconds} s`;
    const refused = plan.refusals.map(({ message }) => message).join(' ');
    return verdict(
      'Succeeded',
      plan.refusals.length > 0 ? 'SpecRefused' : 'Planned',
      refused === '' ? `${count}.` : refused,
      {
        plan,
      },
    );
  } catch {
    const message = 'spec.plan.spec is not of the shape that the schema of RedisCluster asks for; see kubectl explain.';
    return verdict('Failed', 'InvalidSpec', message);
  }
};

export const previewPlan: OperationKind = {
  begin: judge,
  proceed: judge,
  cancel: () => verdict('Cancelled', 'Cancelled', 'It was called off.'),
};
