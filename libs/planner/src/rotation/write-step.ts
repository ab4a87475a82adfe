/** How a step of the credentials Secret is planned and told: under what was seen of it, and as CredentialsInSync. */
import type { Action } from '#domain';
import { extraUserOf } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import type { CredentialsView } from '../read-credentials.ts';
import type { RuleOutcome } from '../rule.ts';

export type CredentialsChange = Pick<Extract<Action, { kind: 'WriteCredentials' }>, 'step' | 'passwordKeys'> & {
  readonly copyFrom?: Readonly<Record<string, { readonly name: string; readonly key: string }>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

export const write = (
  view: ClusterView,
  { secret }: CredentialsView,
  what: CredentialsChange,
  told: { readonly reason: string; readonly message: string },
): RuleOutcome => ({
  ...told,
  actions: [
    {
      kind: 'WriteCredentials',
      key: { namespace: view.key.namespace, name: view.names.credentialsSecret },
      resourceVersion: secret.metadata.resourceVersion ?? '',
      annotations: {},
      ...what,
      ...told,
      disruptive: false,
    },
  ],
});

export const hold = (reason: string, message: string): RuleOutcome => ({
  reason,
  message,
  findings: [{ type: 'CredentialsInSync', status: 'False', reason, message }],
});

export const withFinding = (outcome: RuleOutcome): RuleOutcome => ({
  ...outcome,
  findings: [{ type: 'CredentialsInSync', status: 'False', reason: outcome.reason, message: outcome.message }],
});

/** Users of such keys, for people. */
export const namesOf = (keys: readonly string[]): string => keys.map((key) => extraUserOf(key) ?? key).join(', ');
