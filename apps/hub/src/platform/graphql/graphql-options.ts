import type { MercuriusDriverConfig } from '@nestjs/mercurius';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { clientAddressOf, trustProxies, type AuthenticationService } from '../auth/index.ts';
import type { HubConfig } from '../config/hub-config.ts';
import type { IdSource } from '../lifecycle/time-and-ids.ts';
import { markKnown } from '../connections/watch-strangers.ts';
import { admitRequest } from './admit-request.ts';
import { makeErrorFormatter } from './error-formatter.ts';
import { ownJobs } from './own-jobs.ts';
import { dropPlainResolvers } from './plain-fields.ts';
import { readHttpContext } from './read-http-context.ts';
import type { RequestContext } from './request-context.ts';

/** Options of Mercurius: one place for context, limits, errors and the WebSocket. */
export function makeGraphqlOptions(
  config: HubConfig,
  log: Logger,
  ids: IdSource,
  authentication: AuthenticationService,
): Omit<MercuriusDriverConfig, 'driver'> {
  const forPeople = config.environment !== 'production';
  const trusted = trustProxies(config.trustedProxies ?? []);
  const addressOf = ({ headers, socket }: FastifyRequest): string | undefined =>
    clientAddressOf({ remoteAddress: socket.remoteAddress, forwardedFor: headers['x-forwarded-for'] }, trusted);
  const contexts = new WeakMap<FastifyRequest, Promise<RequestContext>>();
  const contextOf = (request: FastifyRequest): Promise<RequestContext> => {
    const from = { headers: request.headers, address: addressOf(request) };
    const made = contexts.get(request) ?? readHttpContext(from, () => ids.newId(), authentication);
    contexts.set(request, made);
    return made;
  };
  const onKnown = (request: FastifyRequest): void => markKnown(request.raw.socket);
  return {
    autoSchemaFile: true,
    sortSchema: true,
    transformSchema: (schema) => ownJobs(dropPlainResolvers(schema)),
    // serve-documents.ts keeps and compiles them.
    cache: false,
    graphiql: forPeople,
    allowBatchedQueries: false,
    errorFormatter: makeErrorFormatter(log) as never,
    additionalRouteOptions: { preParsing: admitRequest({ contextOf, openIntrospection: forPeople, onKnown }) },
    context: async (request: FastifyRequest, reply: FastifyReply) => {
      const context = await contextOf(request);
      void reply.header('x-request-id', context.requestId);
      return context;
    },
    // Subscriptions have a server of their own: subscription-server.ts.
    subscription: false,
  };
}
