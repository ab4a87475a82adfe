import { buildSchema, findBreakingChanges } from 'graphql';

/** What of a released schema no longer works with the current one, a sentence each; additions are no findings. */
export const findBreaks = (released: string, current: string): string[] =>
  findBreakingChanges(buildSchema(released), buildSchema(current)).map((change) => change.description);
