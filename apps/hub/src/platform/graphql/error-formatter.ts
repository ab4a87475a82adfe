/**
 * What a client may learn of an error. Errors made for clients pass with their code; those of GraphQL itself about the
 * request pass as validation failures; everything else is masked, and logged with the request id that the client gets.
 * Without it driver, file and SQL texts leak: Mercurius hands out any message.
 */
import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from 'graphql';
import type { ApiErrorCode } from './api-error.ts';
import { explainFailure, type Failure } from './explain-failure.ts';
import { toApiError } from './to-api-error.ts';
import type { RequestContext } from './request-context.ts';

export interface ErrorLog {
  error(fields: object, message: string): void;
}
interface Formatted {
  readonly statusCode: number;
  readonly response: ExecutionResult;
}

/** HTTP status by code, where no data was computed at all; partial answers are always 200. */
const STATUS: Readonly<Record<ApiErrorCode, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 200,
  BAD_REQUEST: 400,
  METHOD_NOT_ALLOWED: 405,
  BAD_USER_INPUT: 200,
  GRAPHQL_VALIDATION_FAILED: 400,
  QUERY_TOO_DEEP: 400,
  QUERY_TOO_COSTLY: 400,
  TOO_MANY_SUBSCRIPTIONS: 400,
  TOO_MANY_REQUESTS: 429,
  QUERY_TIMEOUT: 503,
  CSRF_BLOCKED: 403,
  SUBSCRIPTION_NEEDS_WEBSOCKET: 400,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

export const makeErrorFormatter =
  (log: ErrorLog) =>
  (execution: ExecutionResult, context: Partial<RequestContext>): Formatted => {
    const requestId = context.requestId ?? 'unknown';
    const explained = (execution.errors ?? []).flatMap((error) => explainError(error, requestId, log));
    const first = explained[0]?.code ?? 'INTERNAL';
    const executed = execution.data !== undefined;
    return {
      statusCode: executed ? 200 : STATUS[first],
      response: { data: execution.data ?? null, errors: explained.map((each) => each.error) as never },
    };
  };

interface Explained {
  readonly code: ApiErrorCode;
  readonly error: GraphQLFormattedError;
}

function explainError(error: GraphQLError, requestId: string, log: ErrorLog): Explained[] {
  const cause = error.originalError as (Error & { errors?: unknown; code?: unknown; statusCode?: unknown }) | undefined;
  const known = toApiError(cause);
  if (known) return [show(error, known, requestId)];
  const invalid = listValidationErrors(cause);
  if (invalid) {
    return invalid.map((each) => show(each instanceof GraphQLError ? each : error, invalidBy(each), requestId));
  }
  if (isAboutRequest(error, cause)) return [show(error, { code: 'BAD_REQUEST', message: error.message }, requestId)];
  if (isCoercion(error)) return [show(error, invalidBy(error), requestId)];
  const failure = explainFailure(cause ?? error, requestId);
  log.error({ requestId, path: error.path, err: cause ?? error, ...about(failure) }, `request failed: ${failure.code}`);
  return [show(error, failure, requestId)];
}

/** Of a variable: it has no path, as a resolver's failure has, and its cause is GraphQL's own or is not there. */
const isCoercion = ({ path, originalError }: GraphQLError): boolean =>
  path === undefined && (originalError === undefined || originalError instanceof GraphQLError);

const invalidBy = ({ message }: Error): Failure => ({ code: 'GRAPHQL_VALIDATION_FAILED', message });

const about = ({ reason }: Failure): { readonly reason?: string } => (reason === undefined ? {} : { reason });

/** Mercurius wraps all findings about a document, and about its variables, in one error. */
const listValidationErrors = (cause: { errors?: unknown; code?: unknown } | undefined): Error[] | undefined =>
  cause?.code === 'MER_ERR_GQL_VALIDATION' && Array.isArray(cause.errors) ? (cause.errors as Error[]) : undefined;

function show(error: GraphQLError, failure: Failure, requestId: string): Explained {
  const { code, message } = failure;
  return {
    code,
    error: {
      message,
      ...(error.locations ? { locations: error.locations } : {}),
      ...(error.path ? { path: error.path } : {}),
      extensions: { code, requestId, ...about(failure) },
    },
  };
}

/** Fastify's and Mercurius' own refusals: wrong JSON, wrong content type, too large, unknown operation. */
const isAboutRequest = (error: GraphQLError, cause: { code?: unknown; statusCode?: unknown } | undefined): boolean =>
  error.path === undefined &&
  typeof cause?.statusCode === 'number' &&
  cause.statusCode < 500 &&
  /^(FST_|MER_)/.test(String(cause.code));
