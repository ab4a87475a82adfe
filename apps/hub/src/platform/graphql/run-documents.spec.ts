import { buildSchema, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { TooManyJobs } from '../database/job-line.ts';
import { RunDocuments, type Request } from './run-documents.ts';

const schema = buildSchema('type Query { item(id: Int): Item } type Item { id: Int, next: Item, name: String }');
Object.assign(schema.getQueryType()?.getFields()['item'] ?? {}, {
  resolve: (_: unknown, { id }: { id?: number }) => ({ id: id ?? null, name: 'name', next: { id: 2 } }),
});
const MAX_BYTES = 2 * 1024 * 1024;
const make = (nowMs = () => 0): RunDocuments =>
  new RunDocuments(schema, { maxTokens: 5_000, maxBytes: MAX_BYTES }, nowMs);
const requestOf = (source: string, owner = 'a', variables?: Record<string, unknown>): Request => ({
  source,
  owner,
  variables,
  operationName: undefined,
  context: {},
});
/** Distinct for each number. */
const large = (at: number, fields = 30): string =>
  `{ ${Array.from({ length: fields }, (_, field) => `a${at}_${field}: item(id: ${at}) { id name next { id name } }`).join(' ')} }`;
const send = async (documents: RunDocuments, request: Request): Promise<unknown> =>
  documents.run(request, await documents.read(request));

describe('documents', () => {
  it('are kept within their bytes, 512 distinct ones of one principal, and another one keeps its compiled one', async () => {
    const documents = make();
    const dashboard = requestOf('{ item(id: 1) { id name } }', 'dashboards');
    for (let run = 0; run < 5; run += 1) await send(documents, dashboard);
    expect((await documents.read(dashboard)).kept.compiled).toBeDefined();
    for (let at = 0; at < 512; at += 1) {
      const request = requestOf(large(at), 'hostile');
      await send(documents, request);
      await send(documents, request);
      expect(documents.store.bytes).toBeLessThanOrEqual(MAX_BYTES);
    }
    expect(documents.store.size).toBeLessThan(512);
    expect((await documents.read(dashboard)).kept.compiled).toBeDefined();
  });

  it('answer the same compiled as interpreted', async () => {
    const documents = make();
    const query = 'query ($id: Int) { item(id: $id) { id name next { id name } } }';
    const answers = [];
    for (let run = 0; run < 6; run += 1)
      answers.push(JSON.stringify(await send(documents, requestOf(query, 'a', { id: 5 }))));
    expect(new Set(answers)).toEqual(new Set(['{"data":{"item":{"id":5,"name":"name","next":{"id":2,"name":null}}}}']));
    expect((await documents.read(requestOf(query))).kept.compiled).toBeDefined();
  });

  it('are compiled within the budget of their principal only', async () => {
    const documents = make();
    const compiled = [];
    for (let at = 0; at < 20; at += 1) {
      const request = requestOf(large(at));
      for (let run = 0; run < 12; run += 1) await send(documents, request);
      compiled.push((await documents.read(request)).kept.compiled !== undefined);
    }
    // Of 180 fields each.
    expect(compiled.filter(Boolean)).toHaveLength(11);
  });

  it('of two operations run the one that is named', async () => {
    const documents = make();
    const source = 'query A { item(id: 1) { id } } query B { item(id: 2) { id } }';
    for (let run = 0; run < 5; run += 1) {
      for (const [operationName, id] of [
        ['A', 1],
        ['B', 2],
      ] as const) {
        expect(await send(documents, { ...requestOf(source), operationName })).toEqual({ data: { item: { id } } });
      }
    }
  });

  it('that are wrong are told with each of their errors, and not kept', async () => {
    const documents = make();
    const wrong = documents.read(requestOf('{ nothing other }'));
    await expect(wrong).rejects.toMatchObject({ code: 'MER_ERR_GQL_VALIDATION', errors: [{}, {}] });
    await expect(documents.read(requestOf('{'))).rejects.toMatchObject({ errors: [expect.any(GraphQLError)] });
    await expect(documents.read(requestOf(`{ ${'a '.repeat(6_000)} }`))).rejects.toMatchObject({ errors: [{}] });
    expect(documents.store.size).toBe(0);
  });

  it('that take too many bytes are run and not kept', async () => {
    const documents = make();
    expect(await send(documents, requestOf(`{ item(id: 1) { id } } #${'x'.repeat(700_000)}`))).toEqual({
      data: { item: { id: 1 } },
    });
    expect(documents.store.size).toBe(0);
  });

  it('of one principal are read one after the other, and beyond a hundred refused; others do not wait', async () => {
    const documents = make();
    const read = Array.from({ length: 120 }, (_, at) => documents.read(requestOf(large(at, 1), 'hostile')));
    await documents.read(requestOf(large(1_000), 'other'));
    const outcomes = await Promise.allSettled(read);
    const refused = outcomes.filter((each) => each.status === 'rejected');
    expect(refused.every(({ reason }) => reason instanceof TooManyJobs)).toBe(true);
    expect(refused).toHaveLength(19);
  });
});
