/**
 * No name in a spec may be one that every object inherits: no directive, label or resource is called so, and a program that
 * looks it up finds what nobody set. Judged at any depth, from the names alone; the CRD refuses the same in its maps.
 */
import { isInheritedName } from './own-value.ts';
import type { SpecProblem } from './spec-problem.ts';

/** Deeper than any field of the spec. */
const MAX_DEPTH = 16;

/** One problem a name, with the path of the name; names of fields that do not exist are judged too. */
export const validateNames = (spec: object): readonly SpecProblem[] => look(spec, ['spec']);

const look = (value: unknown, path: readonly string[]): readonly SpecProblem[] => {
  if (typeof value !== 'object' || value === null || path.length > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(isInheritedName(name) ? [refuse([...path, name], name)] : []),
    ...look(inner, [...path, name]),
  ]);
};

const refuse = (path: readonly string[], name: string): SpecProblem => ({
  path,
  code: 'INVALID_NAME',
  message: `${name} is not a name that can be set here, since every object has it by itself; remove it.`,
});
