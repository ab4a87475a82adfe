/**
 * What an enrolment may be called and what its command says. A wrong name is refused here, before anything is stored:
 * it becomes a label value and part of metrics.
 */
import { type Outcome, refuse, succeed } from '#domain';
import type { EnrolMemberClusterInput } from './member-clusters.types.ts';

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
/** An optional DNS subdomain, then a name. */
const LABEL_KEY =
  /^((?=[a-z0-9.-]{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const MAX_LABELS = 64;
/** Of a key that was refused: as long as a valid one could be. */
const MAX_SHOWN_KEY_LENGTH = 317;
/** Long enough for a person to install the agent, short enough that a leaked command is soon worth nothing. */
export const TOKEN_VALID_MS = 60 * 60_000;

export function checkEnrolment(input: EnrolMemberClusterInput, hubAddresses: readonly string[]): Outcome<undefined> {
  if (!NAME.test(input.name)) {
    return refuse('INVALID_INPUT', 'a name is 1 to 63 of a-z, 0-9 and -, and begins and ends with a letter or digit', [
      'input',
      'name',
    ]);
  }
  const described = checkDescription(input);
  if (!described.ok) return described;
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

/** Region and labels: bounded, and in the form of Kubernetes labels, so that they fit wherever labels go. */
function checkDescription({ region, labels }: EnrolMemberClusterInput): Outcome<undefined> {
  if (region !== undefined && !LABEL_VALUE.test(region)) {
    return refuse('INVALID_INPUT', 'a region is at most 63 letters, digits, -, _ and ., as the value of a label', [
      'input',
      'region',
    ]);
  }
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) {
    return refuse('INVALID_INPUT', `at most ${MAX_LABELS} labels are accepted, not ${entries.length}`, [
      'input',
      'labels',
    ]);
  }
  const wrong = entries.find(([key, value]) => !LABEL_KEY.test(key) || !LABEL_VALUE.test(value));
  if (wrong === undefined) return succeed(undefined);
  const name = wrong[0].slice(0, MAX_SHOWN_KEY_LENGTH);
  return refuse('INVALID_INPUT', `${name} is no valid label`, ['input', 'labels', name]);
}

export interface InstallFacts {
  readonly hubAddress: string;
  readonly caCertificate: string;
  readonly scope: 'CLUSTER' | 'NAMESPACE';
  readonly namespace?: string;
}

/**
 * Secret in the agent's namespace with the keys `token` and `ca.crt`; charts of release 0.1.0 take it too. Another name than that of
 * the one which the chart makes of values: Helm owns that.
 */
const HUB_SECRET = 'atoll-agent-enrolment';

/**
 * For any POSIX shell, from the root of the repository. The token is not part of it, and goes in on standard input: arguments
 * are in the shell's history, in the list of processes, and in `helm get values`. `cat`: /dev/stdin cannot be opened where the
 * standard input is a socket, as of a program that starts this one.
 */
export function formatInstallCommand({ namespace = 'atoll-system', ...facts }: InstallFacts): string {
  const ca = `ca.crt=${facts.caCertificate.trim()}`;
  return [
    `kubectl create namespace ${namespace} --dry-run=client -o yaml | kubectl apply -f - &&`,
    `cat | kubectl create secret generic ${HUB_SECRET} --namespace ${namespace} --from-file=token=/dev/stdin \\`,
    `  --from-literal='${ca}' --dry-run=client -o yaml | kubectl apply --server-side -f - &&`,
    `helm install atoll-agent helm/atoll-agent --namespace ${namespace} \\`,
    `  --set hub.address=${facts.hubAddress} --set hub.existingSecret=${HUB_SECRET} --set scope=${facts.scope.toLowerCase()}`,
  ].join('\n');
}
