/**
 * What an enrolment may be called and what its command says. A wrong name is refused here, before anything is stored:
 * it becomes a label value and part of metrics.
 */
import { type Outcome, refuse, succeed } from '#domain';
import type { EnrolMemberClusterInput } from './member-clusters.types.ts';

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const LABEL_KEY = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** Long enough for a person to install the agent, short enough that a leaked command is soon worth nothing. */
export const TOKEN_VALID_MS = 60 * 60_000;

export function checkEnrolment(input: EnrolMemberClusterInput, hubAddresses: readonly string[]): Outcome<undefined> {
  if (!NAME.test(input.name)) {
    return refuse('INVALID_INPUT', 'a name is 1 to 63 of a-z, 0-9 and -, and begins and ends with a letter or digit', [
      'input',
      'name',
    ]);
  }
  for (const [key, value] of Object.entries(input.labels)) {
    if (!LABEL_KEY.test(key) || !LABEL_VALUE.test(value)) {
      return refuse('INVALID_INPUT', `${key} is no valid label`, ['input', 'labels', key]);
    }
  }
  if ((input.scope === 'NAMESPACE') !== (input.namespace !== undefined)) {
    return refuse('INVALID_INPUT', 'a namespace goes with scope NAMESPACE, and only with it', ['input', 'namespace']);
  }
  if (input.namespace !== undefined && !NAME.test(input.namespace)) {
    return refuse('INVALID_INPUT', 'this is no name of a namespace', ['input', 'namespace']);
  }
  if (input.hubAddress !== undefined && !hubAddresses.includes(input.hubAddress)) {
    return refuse('INVALID_INPUT', `this hub's addresses are ${hubAddresses.join(', ')}`, ['input', 'hubAddress']);
  }
  return succeed(undefined);
}

export interface InstallFacts {
  readonly hubAddress: string;
  readonly token: string;
  readonly caCertificate: string;
  readonly scope: 'CLUSTER' | 'NAMESPACE';
  readonly namespace?: string;
}

/** For any POSIX shell, from the root of the repository. */
export function formatInstallCommand(facts: InstallFacts): string {
  const namespace = facts.namespace ?? 'atoll-system';
  return [
    `helm install atoll-agent helm/atoll-agent --namespace ${namespace} --create-namespace`,
    `--set hub.address=${facts.hubAddress}`,
    `--set hub.enrolmentToken=${facts.token}`,
    `--set scope=${facts.scope.toLowerCase()}`,
    `--set-string 'hub.ca=${facts.caCertificate.trim()}'`,
  ].join(' \\\n  ');
}
