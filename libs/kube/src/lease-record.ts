/**
 * The Lease object as plain data and the rule of taking it over. Clocks of two machines are never compared: a holder
 * counts as gone when its record has not changed for its whole duration on *our* monotonic clock.
 */
import type { KubeObject } from '#domain';

export interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** A record as last seen changing. */
export interface LeaseSighting {
  readonly holder: string;
  readonly fingerprint: string;
  readonly durationMs: number;
  /** Monotonic ms at which this very record was seen first. */
  readonly seenAtMs: number;
}

/** Kubernetes' MicroTime: six digits, although we only know three. */
export const formatMicroTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

export function sightLease(spec: LeaseSpec, last: LeaseSighting | undefined, nowMonotonicMs: number): LeaseSighting {
  const fingerprint = JSON.stringify([spec.holderIdentity, spec.renewTime, spec.leaseTransitions, spec.acquireTime]);
  if (last?.fingerprint === fingerprint) return last;
  return {
    holder: spec.holderIdentity ?? '',
    fingerprint,
    durationMs: (spec.leaseDurationSeconds ?? 0) * 1000,
    seenAtMs: nowMonotonicMs,
  };
}

/** True when `identity` may write itself as holder. */
export const mayTakeLease = (sighting: LeaseSighting, identity: string, nowMonotonicMs: number): boolean =>
  sighting.holder === '' || sighting.holder === identity || nowMonotonicMs - sighting.seenAtMs >= sighting.durationMs;

/** The spec that makes `identity` holder: a renewal keeps acquireTime, a take-over counts a transition. */
export function holdLease(spec: LeaseSpec | undefined, identity: string, durationMs: number, nowMs: number): LeaseSpec {
  const now = formatMicroTime(nowMs);
  const isRenewal = spec?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: isRenewal ? (spec.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: (spec?.leaseTransitions ?? 0) + (isRenewal || spec === undefined ? 0 : 1),
  };
}

/** The spec of a lease that nobody holds; the short duration lets even a careless reader take it at once. */
export const releaseLease = (spec: LeaseSpec | undefined, nowMs: number): LeaseSpec => ({
  ...spec,
  holderIdentity: '',
  leaseDurationSeconds: 1,
  renewTime: formatMicroTime(nowMs),
});
