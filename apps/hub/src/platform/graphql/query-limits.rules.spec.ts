import { parse, type OperationDefinitionNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import { MAX_COST, MAX_DEPTH, measureOperation, refuseOversized } from './query-limits.rules.ts';

const measure = (query: string, variables: Record<string, unknown> = {}) => {
  const document = parse(query);
  const operation = document.definitions.find((each) => each.kind === 'OperationDefinition') as OperationDefinitionNode;
  return measureOperation(document, operation, variables);
};

describe('what a query asks for', () => {
  it.each([
    ['{ hub { version } }', { depth: 2, cost: 2 }],
    ['{ redisClusters(first: 10) { nodes { id } } }', { depth: 3, cost: 21 }],
    ['{ redisClusters { nodes { id } } }', { depth: 3, cost: 101 }],
    ['{ __schema { types { name } } }', { depth: 0, cost: 2_000 }],
    ['{ a: __schema { types { name } } b: __type(name: "Query") { name } }', { depth: 0, cost: 4_000 }],
    ['{ __typename }', { depth: 0, cost: 0 }],
    ['{ hub { ...V } } fragment V on HubInfo { version epoch }', { depth: 2, cost: 3 }],
    ['{ nodes(ids: ["a", "b", "c"]) { id } }', { depth: 2, cost: 4 }],
  ])('%s', (query, expected) => {
    expect(measure(query)).toEqual(expected);
  });
  it('reads the page size from a variable', () => {
    expect(measure('query ($n: Int) { redisClusters(first: $n) { nodes { id } } }', { n: 3 }).cost).toBe(7);
  });
  it('measures fragments that spread each other twice without walking every path', () => {
    const chain = Array.from({ length: 200 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`);
    const query = `{ ...F0 } ${chain.join(' ')} fragment F200 on Query { hub { version } }`;
    expect(measure(query)).toEqual({ depth: 2, cost: 2 * 2 ** 200 });
  });
  it('refuses what is too deep and what is too costly, and lets the limit itself pass', () => {
    expect(() => refuseOversized({ depth: MAX_DEPTH, cost: MAX_COST })).not.toThrow();
    expect(() => refuseOversized({ depth: MAX_DEPTH + 1, cost: 1 })).toThrow(/deep/);
    expect(() => refuseOversized({ depth: 1, cost: MAX_COST + 1 })).toThrow(/at most 20000/);
  });
});
