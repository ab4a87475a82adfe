/** Public face of the GraphQL platform: what features build their part of the schema with. */
export { ApiError, unauthenticated } from './api-error.ts';
export { connectionOf, PageInfo } from './connection.model.ts';
export { decodeGlobalId, encodeGlobalId, type NodeType } from './global-id.ts';
export { GraphqlApiModule } from './graphql.module.ts';
export { GraphQLJson } from './json.scalar.ts';
export { carrySubscription } from './carry-subscription.ts';
export { GraphQLLong } from './long.scalar.ts';
export { NodeRegistry } from './node-registry.ts';
export { Node } from './node.model.ts';
export { NodeResolver } from './node.resolver.ts';
export { orderByKey } from './order-by-key.ts';
export { buildConnection, encodeCursor, isInteger, isUuid, readPage, type PageRequest } from './page.ts';
export { Loaders, type RequestContext } from './request-context.ts';
export { selectedFields } from './selected-fields.ts';
export { SubscriptionServer } from './subscription-server.ts';
export { toUserError } from './user-error.mapper.ts';
export { ErrorCodes, UserError } from './user-error.model.ts';
