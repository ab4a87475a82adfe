import { GraphQLError } from 'graphql';

/**
 * Codes of top-level errors. Expected failures of a mutation are `userErrors` (ErrorCode of libs/domain) instead; these
 * are only for what concerns the request itself (05, GraphQL 2).
 */
export type ApiErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'BAD_REQUEST'
  | 'BAD_USER_INPUT'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'QUERY_TOO_DEEP'
  | 'QUERY_TOO_COSTLY'
  | 'CSRF_BLOCKED'
  | 'SUBSCRIPTION_NEEDS_WEBSOCKET'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** An error that a client may see as it is. Every other thrown error is masked by the formatter. */
export class ApiError extends GraphQLError {
  readonly code: ApiErrorCode;

  constructor(code: ApiErrorCode, message: string) {
    super(message, { extensions: { code } });
    this.code = code;
  }
}

export const unauthenticated = (): ApiError =>
  new ApiError('UNAUTHENTICATED', 'Send a valid token: "Authorization: Bearer TOKEN".');
