/** status.credentials: where a rotation stands, from the Secret and the servers. States only. */
import type { CredentialsStatus } from '#domain';
import type { ClusterView } from './cluster-view.ts';
import { findLaggard, isOldInUse, readCredentials } from './read-credentials.ts';
import type { CredentialsView } from './read-credentials.ts';

/** undefined while there are no credentials. */
export const describeCredentials = (view: ClusterView): CredentialsStatus | undefined => {
  const credentials = readCredentials(view);
  if (credentials === undefined) return view.snapshot.resource.status?.credentials;
  const { version, publishedAtMs } = credentials;
  if (publishedAtMs === undefined) return { version, step: chooseStep(view, credentials) };
  return {
    version,
    step: chooseStep(view, credentials),
    publishedAt: new Date(publishedAtMs).toISOString(),
    oldInUse: isOldInUse(view, credentials),
  };
};

const chooseStep = (view: ClusterView, credentials: CredentialsView): CredentialsStatus['step'] => {
  const laggard = findLaggard(view, credentials);
  if (credentials.previous.length > 0) {
    if (credentials.publishedAtMs !== undefined) return 'Waiting';
    return laggard === undefined ? 'Publishing' : 'Switching';
  }
  if (credentials.next.length > 0) return 'Adding';
  return laggard !== undefined && isEnding(view) ? 'Removing' : 'Settled';
};

/** Taken out of the Secret, and not yet off every server. */
const isEnding = ({ snapshot }: ClusterView): boolean => {
  const last = snapshot.resource.status?.credentials?.step;
  return last === 'Waiting' || last === 'Removing';
};

/** When to look again for a rotation's sake: soon while servers follow, at the end of the grace period; undefined: for none. */
export const rotationRecheckMs = (view: ClusterView): number | undefined => {
  const { recheckSoonMs, recheckLaterMs, gracePeriodMs = view.spec.auth.gracePeriodMs } = view.policy;
  const credentials = readCredentials(view);
  if (credentials === undefined) return undefined;
  const { publishedAtMs } = credentials;
  if (publishedAtMs !== undefined) {
    const leftMs = publishedAtMs + gracePeriodMs - view.nowMs;
    return leftMs > 0 ? Math.min(leftMs, recheckLaterMs) : recheckLaterMs;
  }
  return credentials.next.length + credentials.previous.length > 0 ? recheckSoonMs : undefined;
};
