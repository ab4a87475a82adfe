import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { AuthenticationService, AuthModule } from '../auth/index.ts';
import { CONFIG, LOG } from '../lifecycle/hub-runtime.ts';
import { IDS } from '../lifecycle/time-and-ids.ts';
import { makeGraphqlOptions } from './graphql-options.ts';
import { NodeRegistry } from './node-registry.ts';
import { NodeResolver } from './node.resolver.ts';
import { SubscriptionServer } from './subscription-server.ts';
import { ServeDocuments } from './serve-documents.ts';

/** GraphQL over HTTP and WebSocket at /graphql, and GraphiQL where it is served. */
@Module({
  imports: [
    AuthModule,
    GraphQLModule.forRootAsync<MercuriusDriverConfig>({
      driver: MercuriusDriver,
      imports: [AuthModule],
      inject: [CONFIG, LOG, IDS, AuthenticationService],
      useFactory: makeGraphqlOptions,
    }),
  ],
  providers: [NodeRegistry, NodeResolver, ServeDocuments, SubscriptionServer],
  exports: [NodeRegistry],
})
export class GraphqlApiModule {}
