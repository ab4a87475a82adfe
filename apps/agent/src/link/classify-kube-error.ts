/**
 * What a refused write means for the delivery of an object. Invariant: only an answer about this object is an outcome; no
 * answer, or an answer about the server, leaves the object unprocessed (MEMBER_API_DOWN), so an outage is never
 * booked as a rejection and never passed over as done.
 */
import { KubeError } from '#kube';
import type { ErrorCode } from '#domain';
import type { ObjectOutcome } from '#protocol';
import { rejected, waiting } from './outcome.ts';
import type { OutcomeTarget } from './outcome.ts';

/** The member's API server gave no verdict on the object. Retried as it is. */
export class MemberApiDownError extends Error {
  override readonly name = 'MemberApiDownError';
}

/** The sentence of the API server itself, without the request that it answered. */
export const sentenceOf = (error: KubeError): string => error.status?.message ?? error.message;

/** The outcome of an object whose write was answered with this error. Throws MemberApiDownError when that was no verdict. */
export function outcomeOfError(error: unknown, target: OutcomeTarget): ObjectOutcome {
  if (!(error instanceof KubeError)) throw error;
  const sentence = sentenceOf(error);
  const no = (code: ErrorCode): ObjectOutcome => rejected(target, code, sentence);
  // Server-side apply of a field that the CRD lacks, or has with another type, fails whole with a 500 (03 rule 14).
  if (error.undeclaredField !== undefined) return no('CRD_TOO_OLD');
  if (/failed to create typed patch object/.test(sentence)) return no('SPEC_REJECTED');
  if (isTerminatingNamespace(error)) return waiting(target, 'NAME_TAKEN', sentence);
  if (error.code === 403) return no('NOT_PERMITTED_HERE');
  if (error.isInvalid()) return no('SPEC_REJECTED');
  if (error.code === 413) return no('OBJECT_TOO_LARGE');
  // No such kind at the moment: the CRD is absent, or being made anew.
  if (error.isNotFound()) return waiting(target, 'CRD_TOO_OLD', sentence);
  throw new MemberApiDownError(sentence, { cause: error });
}

const isTerminatingNamespace = (error: KubeError): boolean =>
  (error.status?.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');

/** True when the namespace of the object does not exist. */
export const isMissingNamespace = (error: unknown): boolean =>
  error instanceof KubeError && error.isNotFound() && error.status?.details?.kind === 'namespaces';
