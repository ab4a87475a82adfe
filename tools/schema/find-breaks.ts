import { BreakingChangeType, buildSchema, findBreakingChanges, type GraphQLSchema, isInputObjectType } from 'graphql';

/**
 * What of a released schema no longer works with the current one, a sentence each; additions are no findings. Nor is an
 * answer that was an Int and is a Long: the same queries are valid, and the same numbers come back as the same JSON.
 */
export function findBreaks(released: string, current: string): string[] {
  const before = buildSchema(released);
  return findBreakingChanges(before, buildSchema(current))
    .filter(
      ({ type, description }) => type !== BreakingChangeType.FIELD_CHANGED_KIND || !isWidened(before, description),
    )
    .map((change) => change.description);
}

const WIDENED = /^(\w+)\.\w+ changed type from Int(!?) to Long\2\.$/;

/** Of answers alone: a variable of type Int does not fit an input of type Long. */
function isWidened(before: GraphQLSchema, description: string): boolean {
  const typeName = WIDENED.exec(description)?.[1];
  return typeName !== undefined && !isInputObjectType(before.getType(typeName));
}
