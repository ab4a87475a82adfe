/**
 * Lets each resolver ask the database in the name of its caller, over HTTP and in subscriptions alike: the pool of the API
 * counts what one principal asks for at once by that name. A resolver that was left out would count as the hub itself.
 */
import { isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { asJobOwner } from '../database/job-owner.ts';
import type { RequestContext } from './request-context.ts';

type Resolve = GraphQLFieldResolver<unknown, RequestContext>;

/** Changes the schema, in place. */
export function ownJobs(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    // The types of introspection belong to graphql-js, and to every schema of the process.
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve) field.resolve = inNameOfCaller(field.resolve);
      if (field.subscribe) field.subscribe = streamInNameOfCaller(field.subscribe);
    }
  }
  return schema;
}

const inNameOfCaller =
  (resolve: Resolve): Resolve =>
  (source, args, context, info) => {
    const owner = context.caller?.viewer.principalId;
    const work = (): unknown => resolve(source, args, context, info);
    return owner === undefined ? work() : asJobOwner(owner, work);
  };

/** What a subscription reads, it reads when its next value is asked for. */
const streamInNameOfCaller =
  (subscribe: Resolve): Resolve =>
  async (source, args, context, info) => {
    const values = await inNameOfCaller(subscribe)(source, args, context, info);
    const owner = context.caller?.viewer.principalId;
    return owner !== undefined && isStream(values) ? nextInNameOf(owner, values) : values;
  };

const isStream = (values: unknown): values is AsyncIterableIterator<unknown> =>
  typeof values === 'object' && values !== null && Symbol.asyncIterator in values && 'next' in values;

const nextInNameOf = (owner: string, values: AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> => ({
  next: () => asJobOwner(owner, () => values.next()),
  return: async (value) => values.return?.(value) ?? { done: true, value: undefined },
  throw: async (error) => {
    if (values.throw) return values.throw(error);
    throw error;
  },
  [Symbol.asyncIterator]() {
    return this;
  },
});
