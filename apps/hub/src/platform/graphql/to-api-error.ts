/**
 * The error that a client may see as it is: one that was made for clients, or a limit that the request has met in the
 * database. A limit is about the request. It is no outage and no fault of the hub, so it is not logged as one.
 */
import { TooManyUnknownTokens } from '../auth/index.ts';
import { TooManyJobs } from '../database/job-line.ts';
import { isStatementTimeout } from '../database/sql-state.ts';
import { ApiError } from './api-error.ts';

const STOPPED =
  'The database did not finish in the time that one statement has, and stopped. Ask for smaller pages and fewer counts, or try again later.';

const UNKNOWN_TOKENS =
  'Too many tokens that the hub does not know came from your address. Use a valid token; a new one is looked up again in a second.';

/** Undefined: every other error is masked. */
export function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof TooManyUnknownTokens) return new ApiError('TOO_MANY_REQUESTS', UNKNOWN_TOKENS);
  if (error instanceof TooManyJobs) return new ApiError('TOO_MANY_REQUESTS', error.message);
  return error instanceof Error && isStatementTimeout(error) ? new ApiError('QUERY_TIMEOUT', STOPPED) : undefined;
}
