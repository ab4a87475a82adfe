import type { ErrorCode } from './error-codes.ts';

/** An expected failure that a user can mend, as it appears in GraphQL `userErrors`. */
export interface UserError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Path of the input field, for instance `['input', 'spec', 'size']`. */
  readonly field?: readonly string[];
  readonly retryable: boolean;
  readonly memberClusterId?: string;
  /** GENERATION_CONFLICT: what others changed since the expected generation, for instance `['spec.size']`. */
  readonly changedFields?: readonly string[];
}

/** The result of a use case: a value, or the expected failures. Bugs and outages are thrown instead. */
export type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly errors: readonly UserError[] };

export const succeed = <T>(value: T): Outcome<T> => ({ ok: true, value });

/** One failure that no retry mends, which is what most are. */
export const refuse = (code: ErrorCode, message: string, field?: readonly string[]): Outcome<never> => ({
  ok: false,
  errors: [{ code, message, retryable: false, ...(field ? { field } : {}) }],
});
