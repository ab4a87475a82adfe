/**
 * How much a query asks for, before anything is read: the depth of its fields, and its cost, which is the number of
 * fields it could answer with when every page is full. Introspection costs a flat sum, however much of it is asked for. Without these limits one nested
 * query of a few hundred bytes could ask for millions of rows.
 */
import { ApiError } from './api-error.ts';
import {
  Kind,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { DEFAULT_PAGE_SIZE } from './page.ts';

export const MAX_DEPTH = 12;
export const MAX_COST = 20_000;
/** About the fields of this schema's description, which an alias may ask for again and again. */
const INTROSPECTION_COST = 2_000;

type Variables = Readonly<Record<string, unknown>>;
interface Measure {
  readonly depth: number;
  readonly cost: number;
}

/** Depth and cost of one operation of a document that passed validation (so fragments exist and do not recurse). */
export function measureOperation(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): Measure {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return measureSelections(operation.selectionSet, { fragments, variables, measured: new Map() });
}

/** Throws ApiError QUERY_TOO_DEEP or QUERY_TOO_COSTLY. */
export function refuseOversized({ depth, cost }: Measure): void {
  if (depth > MAX_DEPTH)
    throw new ApiError('QUERY_TOO_DEEP', `The query is ${depth} fields deep; at most ${MAX_DEPTH}.`);
  if (cost > MAX_COST) {
    const hint = 'Ask for fewer fields or smaller pages.';
    throw new ApiError('QUERY_TOO_COSTLY', `The query could answer ${cost} fields; at most ${MAX_COST}. ${hint}`);
  }
}

interface Scope {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Variables;
  /** Fragments by name. Without it a chain of fragments that each spread the next one twice takes 2^n steps. */
  readonly measured: Map<string, Measure>;
}

function measureSelections(set: SelectionSetNode, scope: Scope): Measure {
  let depth = 0;
  let cost = 0;
  for (const selection of set.selections) {
    const part = measureSelection(selection, scope);
    depth = Math.max(depth, part.depth);
    cost += part.cost;
  }
  return { depth, cost };
}

function measureSelection(selection: SelectionSetNode['selections'][number], scope: Scope): Measure {
  if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value, scope);
  if (selection.kind === Kind.INLINE_FRAGMENT) return measureSelections(selection.selectionSet, scope);
  if (selection.name.value.startsWith('__')) return { depth: 0, cost: selection.selectionSet ? INTROSPECTION_COST : 0 };
  const inner = selection.selectionSet ? measureSelections(selection.selectionSet, scope) : { depth: 0, cost: 0 };
  return { depth: inner.depth + 1, cost: 1 + inner.cost * countItems(selection, scope.variables) };
}

function measureFragment(name: string, scope: Scope): Measure {
  const known = scope.measured.get(name);
  if (known) return known;
  const fragment = scope.fragments.get(name);
  const measure = fragment ? measureSelections(fragment.selectionSet, scope) : { depth: 0, cost: 0 };
  scope.measured.set(name, measure);
  return measure;
}

/** How many items a field may answer with: its `first`, the number of its `ids`, the default page of a connection, or 1. */
function countItems(field: FieldNode, variables: Variables): number {
  const ids = readArgument(field, 'ids', variables);
  if (Array.isArray(ids)) return ids.length;
  const first = readArgument(field, 'first', variables);
  if (first !== undefined) return typeof first === 'number' && first > 0 ? first : DEFAULT_PAGE_SIZE;
  const selected = field.selectionSet?.selections.map((each) => (each.kind === Kind.FIELD ? each.name.value : ''));
  return selected?.some((name) => name === 'edges' || name === 'nodes') ? DEFAULT_PAGE_SIZE : 1;
}

function readArgument(field: FieldNode, name: string, variables: Variables): unknown {
  const argument = field.arguments?.find((each) => each.name.value === name);
  return argument ? valueFromASTUntyped(argument.value, variables) : undefined;
}
