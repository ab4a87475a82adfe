import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { dropPlainResolvers } from './plain-fields.ts';

/** As Nest makes them. */
function reader(property: string, defaultValue?: string): (root: Record<string, unknown>) => unknown {
  const rootFieldResolver = (root: Record<string, unknown>): unknown => root[property] ?? defaultValue;
  return rootFieldResolver;
}

describe('fields that only read a property', () => {
  it('lose their resolver; those that rename, default or compute keep it', () => {
    const compute = (): string => 'computed';
    const query = new GraphQLObjectType({
      name: 'Query',
      fields: {
        plain: { type: GraphQLString, resolve: reader('plain') },
        renamed: { type: GraphQLString, resolve: reader('other') },
        defaulted: { type: GraphQLString, resolve: reader('defaulted', 'none') },
        computed: { type: GraphQLString, resolve: compute },
        bare: { type: GraphQLString },
      },
    });
    const { plain, renamed, defaulted, computed } =
      dropPlainResolvers(new GraphQLSchema({ query })).getQueryType()?.getFields() ?? {};
    expect(plain).not.toHaveProperty('resolve');
    expect([renamed?.resolve, defaulted?.resolve]).toEqual([expect.any(Function), expect.any(Function)]);
    expect(computed?.resolve).toBe(compute);
  });
});
