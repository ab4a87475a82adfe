/** From the text of a subscription to its stream of values: parsed, validated, measured, begun. One at a time a WebSocket. */
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  parse,
  subscribe,
  validate,
} from 'graphql';
import type { SubscribePayload } from 'graphql-ws';

import { MAX_TOKENS } from './query-limits.rules.ts';
import type { RequestContext } from './request-context.ts';
import { RequestGuard } from './request-guard.ts';

export interface Begun extends ExecutionArgs {
  readonly values: AsyncIterable<ExecutionResult>;
}

const guard = new RequestGuard({ openIntrospection: false });

/** The errors are not formatted yet. Never rejects. */
export async function beginSubscription(
  schema: GraphQLSchema,
  contextValue: RequestContext,
  { query, variables, operationName }: SubscribePayload,
): Promise<Begun | readonly GraphQLError[]> {
  try {
    guard.beforeParsing(schema, query, contextValue);
    const document = parse(query, { maxTokens: MAX_TOKENS });
    const invalid = validate(schema, document);
    if (invalid.length > 0) return invalid;
    const name = operationName ?? undefined;
    guard.beforeSubscription({ schema, document, variables: variables ?? {} }, name);
    const args = { schema, document, contextValue, operationName: name, variableValues: variables };
    const result = await subscribe(args);
    return Symbol.asyncIterator in result ? { ...args, values: result } : (result.errors ?? []);
  } catch (error) {
    return [asGraphQLError(error)];
  }
}

/** With what was thrown inside, by which the formatter tells what a client may see. */
export function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(cause.message, { originalError: cause });
}
