/**
 * How a use case says yes or no. A refusal is a value, not an exception: the caller cannot forget it, and the transaction
 * that produced it is rolled back by the one place that runs mutations. Thrown errors stay what they are: bugs or outages.
 */
import type { ErrorCode } from '#domain';

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** Path of the input field. */
  readonly field?: readonly string[];
  readonly retryable?: boolean;
  /** uuid of the member cluster it is about. */
  readonly memberClusterId?: string;
}

export type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusals: readonly Refusal[] };

export const accept = <T>(value: T): Result<T> => ({ ok: true, value });

export const refuse = (
  code: ErrorCode,
  message: string,
  more: Omit<Refusal, 'code' | 'message'> = {},
): { readonly ok: false; readonly refusals: readonly Refusal[] } => ({
  ok: false,
  refusals: [{ code, message, ...more }],
});

export const refuseAll = (
  refusals: readonly Refusal[],
): { readonly ok: false; readonly refusals: readonly Refusal[] } => ({
  ok: false,
  refusals,
});
