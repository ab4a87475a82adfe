/**
 * Nest gives every field of every type a resolver, also those that only read the property of their name. A compiled query
 * must then call each of them, and be ready for a promise from each: for a page of a list that is a thousand calls, and
 * half of the garbage that the page leaves. Without a resolver the property is read in place. What a field answers stays the same:
 * models hold plain values, and what is computed or awaited has a resolver of its own (@ResolveField).
 */
import { isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';

/** The name of Nest's own; one of a later release that is called otherwise is left alone. */
const READER = 'rootFieldResolver';

/** Takes them from the schema, in place. */
export function dropPlainResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve?.name === READER && readsOnly(field.name, field.resolve)) delete field.resolve;
    }
  }
  return schema;
}

/** It answers the property of that name as it is, and has no default for a missing one. */
function readsOnly(name: string, resolve: GraphQLFieldResolver<unknown, unknown>): boolean {
  const value = {};
  const read = (root: object): unknown => resolve(root, {}, undefined, undefined as never);
  return read({ [name]: value }) === value && read({}) === undefined;
}
