/**
 * Which fields of a field's object a query asks for, so that what nobody asked for is not read. It errs on the side of
 * too much: fields behind @skip and @include count as asked for.
 */
import { ownValue } from '#domain';
import {
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql';

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** The list of nodes is one object for all items of a list, compiled or not. */
const known = new WeakMap<readonly FieldNode[], ReadonlySet<string>>();

/** Names in the schema, not aliases. */
export function selectedFields({
  fieldNodes,
  fragments,
}: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>): ReadonlySet<string> {
  const before = known.get(fieldNodes);
  if (before) return before;
  const names = new Set<string>();
  for (const { selectionSet } of fieldNodes) if (selectionSet) collect(selectionSet, fragments, names);
  known.set(fieldNodes, names);
  return names;
}

/** Fragments neither recurse nor are missing: the document passed validation. */
function collect({ selections }: SelectionSetNode, fragments: Fragments, names: Set<string>): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) names.add(selection.name.value);
    else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, fragments, names);
    else {
      const fragment = ownValue(fragments, selection.name.value);
      if (fragment) collect(fragment.selectionSet, fragments, names);
    }
  }
}
