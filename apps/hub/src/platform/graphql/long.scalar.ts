/**
 * Counters that member clusters have a say in: generations, terms, revisions. GraphQL's own Int ends at 2^31, and a field
 * error in one object of a list would blank the list because of one annotation that somebody wrote. On the wire it is a
 * JSON number, so whoever read an Int reads this. Answers only: as the type of an input it would refuse variables of
 * type Int.
 */
import { GraphQLScalarType } from 'graphql';

export const GraphQLLong = new GraphQLScalarType({
  name: 'Long',
  description: 'A whole number up to 2^53 - 1, as a JSON number.',
  serialize: (value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('not a safe integer');
    return value;
  },
});
