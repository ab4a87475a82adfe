import { type Outcome, refuse, succeed } from '#domain';
import type { EnrolMemberClusterInput } from './member-cluster.inputs.ts';
import type { EnrolMemberClusterInput as Enrolment } from './member-clusters.types.ts';

/** The enrolment that an input asks for, without nulls, its labels checked for shape. The use case checks the rest. */
export function readEnrolInput(input: EnrolMemberClusterInput): Outcome<Enrolment> {
  const labels = input.labels ?? {};
  if (!isTextByName(labels)) {
    return refuse('INVALID_INPUT', 'Labels are an object of text values, for instance {"tier": "test"}.', [
      'input',
      'labels',
    ]);
  }
  return succeed({
    name: input.name,
    labels,
    scope: input.scope ?? 'CLUSTER',
    ...(typeof input.region === 'string' ? { region: input.region } : {}),
    ...(typeof input.namespace === 'string' ? { namespace: input.namespace } : {}),
    ...(typeof input.hubAddress === 'string' ? { hubAddress: input.hubAddress } : {}),
  });
}

const isTextByName = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === 'string');
