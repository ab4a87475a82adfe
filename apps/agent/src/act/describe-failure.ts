/**
 * What went wrong with an action, as a stable reason and a sentence without secrets. Servers repeat what they were sent
 * in some errors, so for actions that carry passwords only codes are kept.
 */
import type { Action, PlanResult } from '#domain';
import { isKubeError } from '#kube';
import type { KubeError } from '#kube';
import { RedisCallError } from '#redis';
import { FencedError, RefusedError } from './execution-context.ts';

const CARRY_SECRETS: ReadonlySet<Action['kind']> = new Set<Action['kind']>([
  'CreateCredentials',
  'PublishConnection',
  'MonitorPrimary',
  'WriteCredentials',
  'SetUsers',
  'SetReplicationLogin',
  'SetSentinelLogin',
]);

const describe = (action: Action, error: unknown): string => {
  if (error instanceof RefusedError || error instanceof RedisCallError) return error.message;
  if (isKubeError(error)) return describeKubeError(action, error);
  if (CARRY_SECRETS.has(action.kind))
    return `It failed unexpectedly (${error instanceof Error ? error.name : 'unknown'}).`;
  return error instanceof Error ? error.message : 'It failed for an unknown reason.';
};

const describeKubeError = (action: Action, error: KubeError): string => {
  if (error.isUnreachable) return 'The API server did not answer.';
  if (!CARRY_SECRETS.has(action.kind)) return error.message;
  const what = 'key' in action ? `Secret ${action.key.name}` : 'it';
  return `The API server refused ${what}: ${error.reason} (${error.code ?? 'no code'}).${adviceOn(error)}`;
};

/** Its own words may repeat what was sent. */
const adviceOn = (error: KubeError): string =>
  error.isForbidden() ? " Look at the namespace's quotas, admission policies and the agent's rights on Secrets." : '';

export const describeFailure = (action: Action, error: unknown): NonNullable<PlanResult['failure']> => {
  if (error instanceof FencedError) return { action, reason: 'LeaseTooOld', message: error.message };
  const message = describe(action, error);
  if (!(error instanceof RefusedError)) return { action, reason: `${action.kind}Failed`, message };
  return { action, reason: `${action.kind}Refused`, message, code: error.code };
};
