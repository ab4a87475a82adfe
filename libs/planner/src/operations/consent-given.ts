/**
 * Whether a person has consented to a plan, named by its hash. A consent holds once it has begun, as the status on the
 * server says: so its precondition and notAfter were judged where those of every operation are (judge-operations.ts), and
 * what is done for it is told by it. Then until it expires, a day after it was given when it names no time, and not after
 * it was called off: an old one must not wave a change through much later.
 */
import type { RedisOperationObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';
import { createdAtMs } from './open-operations.ts';

const DEFAULT_VALIDITY_MS = 24 * 3_600_000;

export const consentGiven = (view: Pick<ClusterView, 'snapshot' | 'nowMs'>, planHash: string): boolean =>
  (view.snapshot.operations ?? []).some(
    (operation) =>
      operation.spec.type === 'Consent' &&
      operation.spec.consent?.planHash === planHash &&
      operation.spec.cancel !== true &&
      operation.status?.phase === 'Running' &&
      view.nowMs < consentEndsMs(operation),
  );

export const consentEndsMs = (operation: RedisOperationObject): number => {
  const expires = Date.parse(operation.spec.consent?.expires ?? '');
  return Number.isNaN(expires) ? createdAtMs(operation) + DEFAULT_VALIDITY_MS : expires;
};
