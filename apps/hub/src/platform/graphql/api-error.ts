import { IntrinsicException } from '@nestjs/common';

import type { Outage } from '../database/sql-state.ts';

/**
 * Codes of top-level errors. Expected failures of a mutation are `userErrors` (ErrorCode of libs/domain) instead; these
 * are only for what concerns the request itself (05, GraphQL 2).
 */
export type ApiErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'BAD_REQUEST'
  | 'METHOD_NOT_ALLOWED'
  | 'BAD_USER_INPUT'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'QUERY_TOO_DEEP'
  | 'QUERY_TOO_COSTLY'
  | 'TOO_MANY_SUBSCRIPTIONS'
  | 'TOO_MANY_REQUESTS'
  | 'QUERY_TIMEOUT'
  | 'CSRF_BLOCKED'
  | 'SUBSCRIPTION_NEEDS_WEBSOCKET'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/**
 * An error that a client may see as it is; every other thrown error is masked by the formatter. IntrinsicException tells
 * Nest not to log it: it is an answer, not a fault of the hub.
 */
export class ApiError extends IntrinsicException {
  readonly code: ApiErrorCode;
  /** What the request failed of, when that has a name of its own: an outage of the database. */
  readonly reason?: Outage;
  readonly extensions: { readonly code: ApiErrorCode; readonly reason?: Outage };

  constructor(code: ApiErrorCode, message: string, reason?: Outage) {
    super(message);
    this.code = code;
    if (reason !== undefined) this.reason = reason;
    this.extensions = { code, ...(reason === undefined ? {} : { reason }) };
  }
}

export const unauthenticated = (): ApiError =>
  new ApiError('UNAUTHENTICATED', 'Send a valid token: "Authorization: Bearer TOKEN".');
