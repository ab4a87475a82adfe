/**
 * What went wrong with an action, as a stable reason and a sentence without secrets. Servers repeat what they were sent
 * in some errors, so for actions that carry passwords only codes are kept.
 */
import type { Action, PlanResult } from '#domain';
import { isKubeError } from '#kube';
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
  if (error instanceof RefusedError) return error.message;
  if (error instanceof RedisCallError) return error.message;
  if (isKubeError(error)) {
    if (error.isUnreachable) return 'The API server did not answer.';
    if (CARRY_SECRETS.has(action.kind))
      return `The API server refused it: ${error.reason} (${error.code ?? 'no code'}).`;
    return error.message;
  }
  if (CARRY_SECRETS.has(action.kind))
    return `It failed unexpectedly (${error instanceof Error ? error.name : 'unknown'}).`;
  return error instanceof Error ? error.message : 'It failed for an unknown reason.';
};

export const describeFailure = (action: Action, error: unknown): NonNullable<PlanResult['failure']> => {
  if (error instanceof FencedError) return { action, reason: 'LeaseTooOld', message: error.message };
  const message = describe(action, error);
  if (!(error instanceof RefusedError)) return { action, reason: `${action.kind}Failed`, message };
  return { action, reason: `${action.kind}Refused`, message, code: error.code };
};
