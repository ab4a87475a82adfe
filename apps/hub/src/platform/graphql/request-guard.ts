/**
 * What stops a GraphQL request before any resolver runs: no valid token, a subscription sent by POST (which would be
 * executed as a query), and queries beyond the limits. Nobody gets past here without a caller, so resolvers may rely on
 * one; only introspection is open without a token, and only where GraphiQL is served.
 */
import { getOperationAST, Kind, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { ApiError, unauthenticated } from './api-error.ts';
import { type Measured, measureOperation, refuseOversized } from './query-limits.rules.ts';
import { explainFailure } from './explain-failure.ts';
import { MOST_QUERY_TEXT_BYTES, refuseUnstorable } from './unstorable-text.rules.ts';
import { toApiError } from './to-api-error.ts';
import type { RequestContext } from './request-context.ts';

/** What Mercurius adds to our context on HTTP requests. */
type HttpContext = RequestContext & { readonly reply?: { readonly request?: { readonly body?: unknown } } };

export class RequestGuard {
  private readonly openIntrospection: boolean;

  constructor(options: { readonly openIntrospection: boolean }) {
    this.openIntrospection = options.openIntrospection;
  }

  /** Before the text is parsed: in production nobody without a token learns even a field's name from an error. */
  readonly beforeParsing = (_schema: GraphQLSchema, _source: string, context: RequestContext): void => {
    refuseUnseen(context);
    if (!context.caller && !this.openIntrospection) throw unauthenticated();
  };

  readonly beforeExecution = (
    schema: GraphQLSchema,
    document: DocumentNode,
    context: HttpContext,
    variables?: Readonly<Record<string, unknown>>,
  ): void => {
    const operation = getOperationAST(document, readOperationName(context.reply?.request?.body));
    if (!operation) return;
    if (!context.caller && !isIntrospection(operation)) throw unauthenticated();
    if (operation.operation === 'subscription') {
      throw new ApiError('SUBSCRIPTION_NEEDS_WEBSOCKET', 'Send subscriptions over a WebSocket (graphql-transport-ws).');
    }
    refuseOversized(measureOperation({ schema, document, variables: variables ?? {} }, operation));
    refuseUnstorable(document, variables ?? {}, operation.operation === 'query' ? MOST_QUERY_TEXT_BYTES : Infinity);
  };

  /** Of a subscription that came over the WebSocket; whoever sent it has a valid token. */
  readonly beforeSubscription = ({ schema, document, variables }: Measured, name: string | undefined): void => {
    const operation = getOperationAST(document, name);
    if (operation?.operation !== 'subscription') {
      throw new ApiError(
        'BAD_REQUEST',
        'A WebSocket carries one subscription a message. Send queries and mutations by POST.',
      );
    }
    refuseOversized(measureOperation({ schema, document, variables }, operation));
    refuseUnstorable(document, variables ?? {}, MOST_QUERY_TEXT_BYTES);
  };
}

/** Nobody could look whose token it is. */
export function refuseUnseen({ failure, requestId }: RequestContext): void {
  if (failure === undefined) return;
  const known = toApiError(failure);
  if (known) throw known;
  const { message, reason } = explainFailure(failure, requestId);
  const text = reason === undefined ? 'The database does not answer; try again soon.' : message;
  throw new ApiError('UNAVAILABLE', text, reason);
}

function readOperationName(body: unknown): string | undefined {
  const name =
    typeof body === 'object' && body !== null ? (body as { operationName?: unknown }).operationName : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

const isIntrospection = (operation: OperationDefinitionNode): boolean =>
  operation.operation === 'query' &&
  operation.selectionSet.selections.every((each) => each.kind === Kind.FIELD && each.name.value.startsWith('__'));
