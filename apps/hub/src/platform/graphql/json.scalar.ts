import { GraphQLScalarType, valueFromASTUntyped } from 'graphql';

/** Any JSON value, as it is. Used where the shape belongs to Kubernetes or to the engine, never for our own words. */
export const GraphQLJson = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});
