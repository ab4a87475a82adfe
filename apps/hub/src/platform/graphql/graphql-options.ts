import type { MercuriusDriverConfig } from '@nestjs/mercurius';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AuthenticationService } from '../auth/index.ts';
import type { HubConfig } from '../config/hub-config.ts';
import type { IdSource } from '../lifecycle/time-and-ids.ts';
import { ApiError } from './api-error.ts';
import { makeErrorFormatter } from './error-formatter.ts';
import { noteSubscription } from './live-subscriptions.ts';
import { dropPlainResolvers } from './plain-fields.ts';
import { readHttpContext, readSocketContext } from './read-http-context.ts';
import type { RequestContext } from './request-context.ts';
import { RequestGuard } from './request-guard.ts';
import { keepUpgrade } from './unused-upgrades.ts';

/** Compile a query at its second run: a sixth of the CPU of plain execution on large lists. */
const JIT_AFTER_RUNS = 1;
const MAX_TOKENS = 5_000;
/** Below the 60 s after which common proxies cut silent connections. */
const KEEP_ALIVE_MS = 20_000;
/** Queries come by POST with a JSON body: a page of another origin cannot send that without a preflight. */
const refuseForgeable = async (request: FastifyRequest & { ws?: boolean }): Promise<void> => {
  if (request.ws === true || request.headers['content-type']?.startsWith('application/json')) return;
  throw new ApiError('CSRF_BLOCKED', 'Send queries by POST with "content-type: application/json".');
};

/** Options of Mercurius: one place for context, limits, errors and the WebSocket. */
export function makeGraphqlOptions(
  config: HubConfig,
  log: Logger,
  ids: IdSource,
  authentication: AuthenticationService,
): Omit<MercuriusDriverConfig, 'driver'> {
  const forPeople = config.environment !== 'production';
  const guard = new RequestGuard({ openIntrospection: forPeople });
  const newId = (): string => ids.newId();
  return {
    autoSchemaFile: true,
    sortSchema: true,
    transformSchema: dropPlainResolvers,
    jit: JIT_AFTER_RUNS,
    graphiql: forPeople,
    allowBatchedQueries: false,
    graphql: { parseOptions: { maxTokens: MAX_TOKENS } },
    errorFormatter: makeErrorFormatter(log) as never,
    additionalRouteOptions: { preValidation: refuseForgeable },
    context: async (request: FastifyRequest, reply: FastifyReply) => {
      const context = await readHttpContext(request.headers, newId, authentication);
      void reply.header('x-request-id', context.requestId);
      return context;
    },
    subscription: {
      keepAlive: KEEP_ALIVE_MS,
      context: (_socket: unknown, request: FastifyRequest) =>
        ({ authorization: request.headers.authorization }) as never,
      onConnect: (message: { payload?: Record<string, unknown> }) =>
        readSocketContext(
          message.payload?.['authorization'] ?? message.payload?.['Authorization'],
          newId(),
          authentication,
        ),
    },
    hooks: {
      preParsing: guard.beforeParsing as never,
      preExecution: guard.beforeExecution as never,
      preSubscriptionExecution: keepAfter(guard) as never,
    },
  };
}

/** A subscription that the guard lets begin is what its WebSocket was opened for. */
function keepAfter(guard: RequestGuard): RequestGuard['beforeSubscription'] {
  return (schema, document, context: RequestContext) => {
    const socket = context.request?.raw.socket;
    if (socket) noteSubscription(socket);
    guard.beforeSubscription(schema, document, context);
    if (socket) keepUpgrade(socket);
  };
}
