import { buildSchema, parse, subscribe, graphql } from 'graphql';
import { describe, expect, it } from 'vitest';
import { HUB_ITSELF, jobOwner } from '../database/job-owner.ts';
import { ownJobs } from './own-jobs.ts';

const schema = buildSchema('type Query { owner: String nested: Query } type Subscription { owner: String }');
const tell = async (): Promise<string> => {
  await Promise.resolve();
  return jobOwner();
};
const query = schema.getQueryType()?.getFields();
const subscription = schema.getSubscriptionType()?.getFields();
Object.assign(query?.['owner'] ?? {}, { resolve: tell });
Object.assign(query?.['nested'] ?? {}, { resolve: async () => ({}) });
Object.assign(subscription?.['owner'] ?? {}, {
  resolve: async (value: string) => `${value} ${await tell()}`,
  subscribe: async function* () {
    yield await tell();
    yield await tell();
  },
});
ownJobs(schema);
const contextOf = (principalId: string): object => ({ caller: { viewer: { principalId } } });

describe('the owner of a job', () => {
  it('is the caller in each resolver, of two requests at once', async () => {
    const source = '{ owner nested { owner } }';
    const answers = await Promise.all(
      ['a', 'b'].map((each) => graphql({ schema, source, contextValue: contextOf(each) })),
    );
    expect(answers.map(({ data }) => data)).toEqual([
      { owner: 'a', nested: { owner: 'a' } },
      { owner: 'b', nested: { owner: 'b' } },
    ]);
  });

  it('is the subscriber for each value of a stream, whoever asks for it', async () => {
    const values = await subscribe({ schema, document: parse('subscription { owner }'), contextValue: contextOf('a') });
    const told = [];
    for await (const { data } of values as AsyncIterable<{ data: { owner: string } }>) told.push(data.owner);
    expect(told).toEqual(['a a', 'a a']);
  });

  it('is the hub itself without a caller', async () => {
    expect((await graphql({ schema, source: '{ owner }', contextValue: {} })).data).toEqual({ owner: HUB_ITSELF });
  });
});
