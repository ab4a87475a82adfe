import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNullableType,
  type GraphQLField,
  isListType,
  isObjectType,
  parse,
  type OperationDefinitionNode,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { isPriced } from './database-costs.ts';
import { sizeOfList } from './list-sizes.ts';
import { MAX_COST, MAX_DEPTH, type Measure, measureOperation, refuseOversized } from './query-limits.rules.ts';

const schema = buildSchema(readFileSync(new URL('../../../../../schema.graphql', import.meta.url), 'utf8'));
const measure = (query: string, variables: Record<string, unknown> | undefined = {}): Measure => {
  const document = parse(query);
  const operation = document.definitions.find((each) => each.kind === 'OperationDefinition') as OperationDefinitionNode;
  return measureOperation({ schema, document, variables }, operation);
};
const numbersOf = ({ depth, cost }: Measure): { depth: number; cost: number } => ({ depth, cost });
const refusal = (query: string): unknown => {
  try {
    refuseOversized(measure(query));
    return 'passes';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('what a query asks for', () => {
  it.each([
    ['{ hub { version } }', { depth: 2, cost: 2 }],
    ['{ redisClusters(first: 10) { nodes { id } } }', { depth: 3, cost: 71 }],
    ['{ redisClusters { nodes { id } } }', { depth: 3, cost: 151 }],
    ['{ redisClusters { totalCount } }', { depth: 2, cost: 1_101 }],
    ['{ fleetHealth { groups { key total } } }', { depth: 3, cost: 851 }],
    ['{ memberCluster(id: "a") { agents { id version } } }', { depth: 3, cost: 42 }],
    ['{ node(id: "a") { ... on MemberCluster { agents { id version } } } }', { depth: 3, cost: 42 }],
    ['{ node(id: "a") { ...M } } fragment M on MemberCluster { agents { id } }', { depth: 3, cost: 32 }],
    ['{ localObjects(memberClusterId: "a") { name } }', { depth: 2, cost: 1_101 }],
    ['{ hub { agentAddresses } }', { depth: 2, cost: 12 }],
    ['{ __schema { types { name } } }', { depth: 0, cost: 2_000 }],
    ['{ a: __schema { types { name } } b: __type(name: "Query") { name } }', { depth: 0, cost: 4_000 }],
    ['{ __typename }', { depth: 0, cost: 0 }],
    ['{ hub { ...V } } fragment V on HubInfo { version epoch }', { depth: 2, cost: 3 }],
    ['{ nodes(ids: ["a", "b", "c"]) { id } }', { depth: 2, cost: 64 }],
  ])('%s', (query, expected) => {
    expect(numbersOf(measure(query))).toEqual(expected);
  });
  it('reads the page size from a variable, given or by default', () => {
    const query = 'query ($n: Int = 9) { redisClusters(first: $n) { nodes { id } } }';
    expect(measure(query, { n: 3 }).cost).toBe(57);
    expect(measure(query).cost).toBe(69);
  });
  it('takes the largest page for a variable that is not known, as of a subscription', () => {
    const query = 'subscription ($n: Int) { fleetHealth(first: $n) { groups { key } } }';
    const measured = measureOperation(
      { schema, document: parse(query), variables: undefined },
      parse(query).definitions[0] as OperationDefinitionNode,
    );
    expect(measured.cost).toBe(1_101);
  });
  it('measures fragments that spread each other twice without walking every path', () => {
    const chain = Array.from({ length: 200 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`);
    const query = `{ ...F0 } ${chain.join(' ')} fragment F200 on Query { hub { version } }`;
    expect(numbersOf(measure(query))).toEqual({ depth: 2, cost: 2 * 2 ** 200 });
  });
  it('refuses what is too deep and what is too costly, and lets the limit itself pass', () => {
    const lists = new Set<string>();
    expect(() => refuseOversized({ depth: MAX_DEPTH, cost: MAX_COST, once: 0, lists })).not.toThrow();
    expect(() => refuseOversized({ depth: MAX_DEPTH + 1, cost: 1, once: 0, lists })).toThrow(/deep/);
    expect(() => refuseOversized({ depth: 1, cost: MAX_COST + 1, once: 0, lists })).toThrow(/at most 20000/);
  });
});

describe('what the resolvers ask the database on their own', () => {
  it('is priced for every root field of the schema', () => {
    const fields = Object.keys(schema.getQueryType()?.getFields() ?? {});
    expect(fields.filter((field) => !isPriced('Query', field))).toEqual([]);
  });

  it('lets eighteen counts pass in one request, and refuses 270 by aliases, also in a fragment', () => {
    const counts = (count: number): string =>
      Array.from(
        { length: count },
        (_, at) => `a${at}: redisClusters(first: 1, filter: { name: "${at}" }) { totalCount }`,
      ).join(' ');
    expect(refusal(`{ ${counts(18)} }`)).toBe('passes');
    expect(refusal(`{ ${counts(270)} }`)).toBe('QUERY_TOO_COSTLY');
    expect(refusal(`{ ...A } fragment A on Query { ${counts(270)} }`)).toBe('QUERY_TOO_COSTLY');
  });

  it('is a count once a page, however long the page is', () => {
    const costOf = (first: number): number => measure(`{ redisClusters(first: ${first}) { totalCount } }`).cost;
    expect(costOf(100) - costOf(1)).toBe(99);
  });

  it('is more where all RedisClusters are looked through for their sync state', () => {
    const query = 'query ($f: RedisClusterFilter) { redisClusters(first: 1, filter: $f) { nodes { id } } }';
    expect(measure(query, { f: { sync: 'DRIFTED' } }).cost - measure(query, { f: { name: 'a' } }).cost).toBe(1_000);
  });

  it.each([
    ['one object by its id', 'redisCluster(id: "a") { id }'],
    ['objects by many ids', `nodes(ids: [${'"a",'.repeat(100)}]) { id }`],
    ['mutations', 'm: deleteRedisCluster(input: { id: "a" }) { userErrors { code } }'],
    ['roll-ups', 'fleetHealth(first: 1) { total }'],
  ])('cannot be multiplied by aliases without end: %s', (_what, field) => {
    const aliases = Array.from({ length: 1_000 }, (_, at) => `a${at}: ${field.replace(/^m: /, '')}`).join(' ');
    expect(refusal(field.startsWith('m: ') ? `mutation { ${aliases} }` : `{ ${aliases} }`)).toBe('QUERY_TOO_COSTLY');
  });
});

describe('lists without a page size', () => {
  it('are declared, every one of the schema', () => {
    const undeclared: string[] = [];
    for (const type of Object.values(schema.getTypeMap())) {
      if (!isObjectType(type) || type.name.startsWith('__')) continue;
      for (const field of Object.values(type.getFields()) as GraphQLField<unknown, unknown>[]) {
        const isPaged = field.args.some(({ name }) => name === 'first' || name === 'ids');
        if (isPaged || !isListType(getNullableType(field.type))) continue;
        if (sizeOfList(type.name, field) === undefined) undeclared.push(`${type.name}.${field.name}`);
      }
    }
    expect(undeclared).toEqual([]);
  });

  it.each([
    ['one level', '{ memberCluster(id: "a") { agents { memberCluster { agents { id } } } } }'],
    ['five levels', `{ memberCluster(id: "a") ${'{ agents { memberCluster '.repeat(5)}{ id } ${'} }'.repeat(5)} }`],
    [
      'fragments',
      '{ memberCluster(id: "a") { ...A } } fragment A on MemberCluster { agents { ...B } } fragment B on Agent { memberCluster { agents { id } } }',
    ],
    [
      'an interface',
      '{ node(id: "a") { ... on Agent { memberCluster { agents { memberCluster { agents { id } } } } } } }',
    ],
  ])('may not lead back to themselves: %s', (_how, query) => {
    expect(refusal(query)).toBe('QUERY_TOO_COSTLY');
  });

  it('may lead to their owner', () => {
    expect(refusal('{ memberClusters(first: 100) { nodes { agents { id memberCluster { name } } } } }')).toBe('passes');
  });
});

describe('a page of a hundred', () => {
  it('of RedisClusters may be asked for with everything that there is of each', () => {
    const status = `ageSeconds conditions { lastTransitionTime message observedGeneration reason status type } currentPrimary
      dataSetId details endpoints { connectionSecret masterName primary primaryAddress replicas sentinel } engineVersion freshness
      lastKnown mode numbers observedGeneration phase pods { ip link name node ready role } primaryTerm readyPods reportedAt size`;
    const delivery = `appliedGeneration attempts code drift { liveValue manager path wantedValue } generation message state sync`;
    const query = `{ redisClusters(first: 100) { nodes { createdAt deleting delivery { ${delivery} } driftPolicy generation hubUid id
      memberCluster { id name } name namespace project { id name } spec status { ${status} } updatedAt } pageInfo { endCursor } } }`;
    expect(refusal(query)).toBe('passes');
  });

  it('of member clusters with all that is told of their agents', () => {
    const agent = `ageSeconds appliedRevision connected desiredRevision fingerprint freshness id inventory namespace
      problem { code message } replica scope seenAt sessionNo state stateReason`;
    expect(refusal(`{ memberClusters(first: 100) { nodes { id name region freshness agents { ${agent} } } } }`)).toBe(
      'passes',
    );
  });
});
