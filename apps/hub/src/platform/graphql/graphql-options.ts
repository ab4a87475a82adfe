import type { MercuriusDriverConfig } from '@nestjs/mercurius';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AuthenticationService } from '../auth/index.ts';
import type { HubConfig } from '../config/hub-config.ts';
import type { IdSource } from '../lifecycle/time-and-ids.ts';
import { markKnown } from '../connections/watch-strangers.ts';
import { admitRequest } from './admit-request.ts';
import { makeErrorFormatter } from './error-formatter.ts';
import { ownJobs } from './own-jobs.ts';
import { dropPlainResolvers } from './plain-fields.ts';
import { MAX_TOKENS } from './query-limits.rules.ts';
import { readHttpContext } from './read-http-context.ts';
import type { RequestContext } from './request-context.ts';
import { RequestGuard } from './request-guard.ts';

/** Compile a query at its second run: a sixth of the CPU of plain execution on large lists. */
const JIT_AFTER_RUNS = 1;
/** Options of Mercurius: one place for context, limits, errors and the WebSocket. */
export function makeGraphqlOptions(
  config: HubConfig,
  log: Logger,
  ids: IdSource,
  authentication: AuthenticationService,
): Omit<MercuriusDriverConfig, 'driver'> {
  const forPeople = config.environment !== 'production';
  const guard = new RequestGuard({ openIntrospection: forPeople });
  const contexts = new WeakMap<FastifyRequest, Promise<RequestContext>>();
  const contextOf = (request: FastifyRequest): Promise<RequestContext> => {
    const made = contexts.get(request) ?? readHttpContext(request.headers, () => ids.newId(), authentication);
    contexts.set(request, made);
    return made;
  };
  const onKnown = (request: FastifyRequest): void => markKnown(request.raw.socket);
  return {
    autoSchemaFile: true,
    sortSchema: true,
    transformSchema: (schema) => ownJobs(dropPlainResolvers(schema)),
    jit: JIT_AFTER_RUNS,
    graphiql: forPeople,
    allowBatchedQueries: false,
    graphql: { parseOptions: { maxTokens: MAX_TOKENS } },
    errorFormatter: makeErrorFormatter(log) as never,
    additionalRouteOptions: { preParsing: admitRequest({ contextOf, openIntrospection: forPeople, onKnown }) },
    context: async (request: FastifyRequest, reply: FastifyReply) => {
      const context = await contextOf(request);
      void reply.header('x-request-id', context.requestId);
      return context;
    },
    // Subscriptions have a server of their own: subscription-server.ts.
    subscription: false,
    hooks: {
      preParsing: guard.beforeParsing as never,
      preExecution: guard.beforeExecution as never,
    },
  };
}
