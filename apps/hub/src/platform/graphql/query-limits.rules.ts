/**
 * How much a query asks for, before anything is read: the depth of its fields, and its cost, which is the number of
 * fields it could answer with when every page is full, and what its own questions to the database add (database-costs.ts). A list that takes no `first` counts as list-sizes.ts says, and may not
 * be asked for within itself: from a list that leads back to its owner each level would multiply the answer by the whole list,
 * and no number that is declared for it holds then. Introspection costs a flat sum, however much of it is asked for. Without
 * these limits one nested query of a few hundred bytes could ask for millions of rows.
 */
import { ownValue } from '#domain';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { ApiError } from './api-error.ts';
import { databaseCostOf } from './database-costs.ts';
import { sizeOfList } from './list-sizes.ts';
import { DEFAULT_PAGE_SIZE } from './page.ts';

/** Of a document, counted by the parser. */
export const MAX_TOKENS = 5_000;
export const MAX_DEPTH = 12;
export const MAX_COST = 20_000;
/** About the fields of this schema's description, which an alias may ask for again and again. */
const INTROSPECTION_COST = 2_000;
/** The largest page of any list: what a variable counts as whose value is not known here. */
const LARGEST_PAGE = 500;

/** Undefined: not known. */
type Variables = Readonly<Record<string, unknown>> | undefined;
export interface Measure {
  readonly depth: number;
  readonly cost: number;
  /** What is read once for a page, however many items it has: it is not multiplied by them. */
  readonly once: number;
  /** Lists without `first` that are asked for, as `Type.field`. */
  readonly lists: ReadonlySet<string>;
  /** One of them that is asked for within itself. */
  readonly repeated?: string;
}

export interface Measured {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly variables: Variables;
}

/** Depth and cost of one operation of a document that passed validation (so fragments exist and do not recurse). */
export function measureOperation(
  { schema, document, variables }: Measured,
  operation: OperationDefinitionNode,
): Measure {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const values = variables && { ...readDefaults(operation), ...variables };
  const scope = { schema, fragments, variables: values, measured: new Map<string, Measure>() };
  return measureSelections(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, scope);
}

const readDefaults = ({ variableDefinitions = [] }: OperationDefinitionNode): Record<string, unknown> =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );

/** Throws ApiError QUERY_TOO_DEEP or QUERY_TOO_COSTLY. */
export function refuseOversized({ depth, cost, repeated }: Measure): void {
  if (depth > MAX_DEPTH)
    throw new ApiError('QUERY_TOO_DEEP', `The query is ${depth} fields deep; at most ${MAX_DEPTH}.`);
  if (repeated !== undefined) {
    throw new ApiError('QUERY_TOO_COSTLY', `The query asks for ${repeated} within itself. Ask for it once.`);
  }
  if (cost > MAX_COST) {
    const hint = 'Ask for fewer fields, smaller pages or fewer counts.';
    throw new ApiError('QUERY_TOO_COSTLY', `The query costs ${cost}; at most ${MAX_COST}. ${hint}`);
  }
}

interface Scope {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Variables;
  /** Fragments by name. Without it a chain of fragments that each spread the next one twice takes 2^n steps. */
  readonly measured: Map<string, Measure>;
}
type Parent = GraphQLNamedType | undefined;
const union = <T>(some: ReadonlySet<T>, others: Iterable<T>): ReadonlySet<T> => new Set([...some, ...others]);
const NOTHING: Measure = { depth: 0, cost: 0, once: 0, lists: new Set() };

function measureSelections(set: SelectionSetNode | undefined, parent: Parent, scope: Scope): Measure {
  return (set?.selections ?? [])
    .map((selection) => measureSelection(selection, parent, scope))
    .reduce((sum, part) => {
      const repeated = sum.repeated ?? part.repeated;
      return {
        depth: Math.max(sum.depth, part.depth),
        cost: sum.cost + part.cost,
        once: sum.once + part.once,
        lists: union(sum.lists, part.lists),
        ...(repeated === undefined ? {} : { repeated }),
      };
    }, NOTHING);
}

function measureSelection(selection: SelectionSetNode['selections'][number], parent: Parent, scope: Scope): Measure {
  if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value, scope);
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    const on = selection.typeCondition ? scope.schema.getType(selection.typeCondition.name.value) : parent;
    return measureSelections(selection.selectionSet, on, scope);
  }
  if (!selection.name.value.startsWith('__')) return measureField(selection, parent, scope);
  return { ...NOTHING, cost: selection.selectionSet ? INTROSPECTION_COST : 0 };
}

const findField = (parent: Parent, name: string): GraphQLField<unknown, unknown> | undefined =>
  isObjectType(parent) || isInterfaceType(parent) ? ownValue(parent.getFields(), name) : undefined;

function measureField(node: FieldNode, parent: Parent, scope: Scope): Measure {
  const field = findField(parent, node.name.value);
  const inner = measureSelections(node.selectionSet, field && getNamedType(field.type), scope);
  const measure = { ...inner, once: 0, depth: inner.depth + 1 };
  if (!parent || !field) return { ...measure, cost: 1 + inner.cost };
  const list = sizeOfList(parent.name, field);
  const ofEach = node.selectionSet ? inner.cost : Number(list !== undefined);
  const asked = countAsked(node, field, scope.variables) ?? list?.size ?? 1;
  const fields = { ...measure, cost: 1 + ofEach * asked + inner.once };
  const whole = addQuestions(fields, field.name, measureQuestions(node, parent.name, { asked, scope }));
  return list && list.size > 1 ? addList(list.name, whole) : whole;
}

const addQuestions = (measure: Measure, field: string, cost: number): Measure =>
  field === 'totalCount' ? { ...measure, once: cost } : { ...measure, cost: measure.cost + cost };

/** What its resolver asks the database on its own. */
function measureQuestions(
  node: FieldNode,
  parent: string,
  of: { readonly asked: number; readonly scope: Scope },
): number {
  const isByIds = node.arguments?.some(({ name }) => name.value === 'ids') === true;
  const readFilter = (): unknown => readArgument(node, 'filter', of.scope.variables);
  return (isByIds ? of.asked : 1) * databaseCostOf(parent, node.name.value, readFilter);
}

function addList(name: string, measure: Measure): Measure {
  const lists = union(measure.lists, [name]);
  return measure.lists.has(name) ? { ...measure, lists, repeated: name } : { ...measure, lists };
}

function measureFragment(name: string, scope: Scope): Measure {
  const known = scope.measured.get(name);
  if (known) return known;
  const fragment = scope.fragments.get(name);
  const on = fragment && scope.schema.getType(fragment.typeCondition.name.value);
  const measure = measureSelections(fragment?.selectionSet, on, scope);
  scope.measured.set(name, measure);
  return measure;
}

/** How many items are asked for: the number of `ids`, or `first`, given or by default. Undefined: the field takes neither. */
function countAsked(node: FieldNode, field: GraphQLField<unknown, unknown>, variables: Variables): number | undefined {
  const takes = (name: string) => field.args.find((each) => each.name === name);
  if (takes('ids')) {
    const ids = readArgument(node, 'ids', variables);
    return Array.isArray(ids) ? ids.length : ids === UNKNOWN ? LARGEST_PAGE : 1;
  }
  const first = takes('first');
  if (!first) return undefined;
  const given = readArgument(node, 'first', variables);
  if (given === UNKNOWN) return LARGEST_PAGE;
  if (typeof given === 'number' && given > 0) return given;
  return typeof first.defaultValue === 'number' ? first.defaultValue : DEFAULT_PAGE_SIZE;
}

const UNKNOWN = Symbol('of a variable that is not known here');

function readArgument(node: FieldNode, name: string, variables: Variables): unknown {
  const argument = node.arguments?.find((each) => each.name.value === name);
  if (!argument) return undefined;
  if (variables) return valueFromASTUntyped(argument.value, variables);
  return argument.value.kind === Kind.VARIABLE ? UNKNOWN : valueFromASTUntyped(argument.value, {});
}
