/** Puts RunDocuments in the place of the function by which the routes of Mercurius run what comes by POST. */
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { HubConfig } from '../config/hub-config.ts';
import { CONFIG, LOG } from '../lifecycle/hub-runtime.ts';
import { systemClock } from '../lifecycle/time-and-ids.ts';
import { makeErrorFormatter } from './error-formatter.ts';
import { MAX_TOKENS } from './query-limits.rules.ts';
import type { RequestContext } from './request-context.ts';
import { RequestGuard } from './request-guard.ts';
import { RunDocuments } from './run-documents.ts';

type Context = RequestContext & {
  readonly reply?: { readonly request?: { readonly body?: unknown }; code(status: number): unknown };
};
type Serve = (
  source: unknown,
  context: Context,
  variables?: Readonly<Record<string, unknown>> | null,
  operationName?: string | null,
) => Promise<ExecutionResult>;
interface Served {
  graphql: Serve & { readonly schema: GraphQLSchema };
}
/** Introspection without a token, where GraphiQL is served. */
const NOBODY = 'nobody';

@Injectable()
export class ServeDocuments implements OnApplicationBootstrap {
  documents: RunDocuments | undefined;

  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: HubConfig,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const app = this.host.httpAdapter.getInstance<Served>();
    const { schema } = app.graphql;
    const documents = new RunDocuments(schema, { maxTokens: MAX_TOKENS }, () => systemClock.monotonicMs());
    this.documents = documents;
    app.graphql = Object.assign(this.serve(schema, documents), app.graphql);
  }

  private serve(schema: GraphQLSchema, documents: RunDocuments): Serve {
    const guard = new RequestGuard({ openIntrospection: this.config.environment !== 'production' });
    const format = makeErrorFormatter(this.log);
    return async (source, context, variables, operationName) => {
      const request = {
        source: String(source),
        operationName: operationName ?? undefined,
        variables: variables ?? undefined,
        context,
        owner: context.caller?.viewer.principalId ?? NOBODY,
      };
      guard.beforeParsing(schema, request.source, context);
      const read = await documents.read(request);
      guard.beforeExecution(schema, read.kept.document, context, request.variables);
      const result = await documents.run(request, read);
      if (!result.errors) return result;
      const { statusCode, response } = format(result, context);
      context.reply?.code(statusCode);
      return response;
    };
  }
}
