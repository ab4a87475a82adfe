import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse, type FieldNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import { selectedFields } from './selected-fields.ts';

function infoOf(source: string): Parameters<typeof selectedFields>[0] {
  const { definitions } = parse(source);
  const operation = definitions.find(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  const fragments = definitions.filter(
    (each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION,
  );
  return {
    fieldNodes: (operation?.selectionSet.selections ?? []) as readonly FieldNode[],
    fragments: Object.fromEntries(fragments.map((each) => [each.name.value, each])),
  };
}

describe('the fields that a query asks for', () => {
  it.each([
    ['{ status { phase ready: readyPods } }', ['phase', 'readyPods']],
    ['{ status { phase pods { name } } status { mode } }', ['phase', 'pods', 'mode']],
    ['{ status { ...A } } fragment A on S { phase ...B } fragment B on S { pods { name } }', ['phase', 'pods']],
    ['{ status { ... on S { phase } ... @include(if: false) { mode } } }', ['phase', 'mode']],
    ['query Q($w: Boolean!) { status { phase @skip(if: $w) __typename } }', ['phase', '__typename']],
    ['{ status }', []],
  ])('of %s', (source, names) => {
    const info = infoOf(source);
    expect([...selectedFields(info)]).toEqual(names);
    expect([...selectedFields(info)]).toEqual(names);
  });
});
