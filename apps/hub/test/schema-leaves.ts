/** Every place of the printed schema that takes a value, with a request that puts one there. */
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isLeafType,
} from 'graphql';

export type RootName = 'Query' | 'Mutation' | 'Subscription';

export interface Leaf {
  readonly root: RootName;
  /** Name of the query or mutation. */
  readonly field: string;
  /** From its argument on; a number is a place in a list. */
  readonly path: readonly (string | number)[];
  /** ID, String, Int, JSON … */
  readonly type: string;
  readonly isList: boolean;
}

/** What stands where nothing is tried: by the name of the field, else by its type. */
export type Samples = Readonly<Record<string, unknown>>;

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));

const fieldsOf = (root: RootName): readonly GraphQLField<unknown, unknown>[] => {
  const type = {
    Query: schema.getQueryType(),
    Mutation: schema.getMutationType(),
    Subscription: schema.getSubscriptionType(),
  }[root];
  return Object.values(type?.getFields() ?? {});
};

/** All leaves of these operations, enums and flags left out: a value of theirs is known before anything runs. */
export const listLeaves = (root: RootName): readonly Leaf[] =>
  fieldsOf(root).flatMap(({ name, args }) =>
    args.flatMap((argument) =>
      leavesOf(argument.type, [argument.name]).map((leaf) => ({ root, field: name, ...leaf })),
    ),
  );

function leavesOf(type: GraphQLInputType, path: Leaf['path']): Pick<Leaf, 'path' | 'type' | 'isList'>[] {
  const bare = isNonNullType(type) ? type.ofType : type;
  const isList = isListType(bare);
  const named = getNamedType(bare);
  if (isInputObjectType(named)) {
    const inner = isList ? [...path, 0] : path;
    return Object.values(named.getFields()).flatMap((field) => leavesOf(field.type, [...inner, field.name]));
  }
  return isEnumType(named) || named.name === 'Boolean' ? [] : [{ path, type: named.name, isList }];
}

function sample(type: GraphQLInputType, name: string, samples: Samples): unknown {
  if (Object.hasOwn(samples, name)) return samples[name];
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare)) return [sample(bare.ofType, '', samples)];
  const named = getNamedType(bare);
  if (isEnumType(named)) return named.getValues()[0]?.name;
  if (!isInputObjectType(named)) return samples[named.name];
  const needed = Object.values(named.getFields()).filter(
    (field) => isNonNullType(field.type) || Object.hasOwn(samples, field.name),
  );
  return Object.fromEntries(needed.map((field) => [field.name, sample(field.type, field.name, samples)]));
}

/** A document and variables that put `value` at the leaf, and samples wherever something is needed. */
export function requestAt(leaf: Leaf, value: unknown, samples: Samples): { query: string; variables: object } {
  const field = fieldsOf(leaf.root).find(({ name }) => name === leaf.field);
  if (!field) throw new Error(`no ${leaf.field}`);
  const used = field.args.filter(({ name, type }) => name === leaf.path[0] || isNonNullType(type));
  const variables = Object.fromEntries(
    used.map((argument) => [argument.name, sampleAt(argument, leaf, value, samples)]),
  );
  const declared = used.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = used.map(({ name }) => `${name}: $${name}`).join(', ');
  const shown = leaf.root === 'Mutation' ? ' { userErrors { code field message } }' : selectionOf(field);
  return { query: `${leaf.root.toLowerCase()} T(${declared}) { ${leaf.field}(${given})${shown} }`, variables };
}

const selectionOf = ({ type }: GraphQLField<unknown, unknown>): string =>
  isLeafType(getNamedType(type)) ? '' : ' { __typename }';

function sampleAt(argument: GraphQLArgument, leaf: Leaf, value: unknown, samples: Samples): unknown {
  if (argument.name !== leaf.path[0]) return sample(argument.type, argument.name, samples);
  return put(argument.type, leaf.path, leaf.isList ? [value] : value, samples);
}

function put(type: GraphQLInputType, path: Leaf['path'], value: unknown, samples: Samples): unknown {
  const [name = '', next, ...rest] = path;
  if (next === undefined) return value;
  const bare = isNonNullType(type) ? type.ofType : type;
  if (typeof next === 'number' && isListType(bare)) {
    return [put(bare.ofType, ['', ...rest], value, samples)];
  }
  const named = getNamedType(bare);
  if (!isInputObjectType(named)) throw new Error(`nothing is in ${named.name}`);
  const inner = named.getFields()[String(next)];
  if (!inner) throw new Error(`no field ${next}`);
  const base = sample(bare, String(name), samples) as object;
  return { ...base, [String(next)]: put(inner.type, [next, ...rest], value, samples) };
}
