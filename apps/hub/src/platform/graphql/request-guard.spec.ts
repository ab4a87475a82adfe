import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { Loaders, type RequestContext } from './request-context.ts';
import { RequestGuard } from './request-guard.ts';

const schema = buildSchema('type Query { secret: String } type Subscription { tick: Int }');
const anonymous: RequestContext = { requestId: 'r', loaders: new Loaders({ keep: true }) };
const known: RequestContext = {
  ...anonymous,
  caller: { requestId: 'r', viewer: { principalId: 'p', name: 'ana', kind: 'USER', bindings: [] } },
};
const code = (action: () => void): unknown => {
  try {
    action();
    return 'passed';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

describe('who gets past the guard', () => {
  const open = new RequestGuard({ openIntrospection: true });
  const closed = new RequestGuard({ openIntrospection: false });
  const execute = (guard: RequestGuard, query: string, context: RequestContext) =>
    code(() => guard.beforeExecution(schema, parse(query), context));

  it('nobody without a token in production, before anything is parsed', () => {
    expect(code(() => closed.beforeParsing(schema, '{ secret }', anonymous))).toBe('UNAUTHENTICATED');
    expect(code(() => closed.beforeParsing(schema, '{ secret }', known))).toBe('passed');
  });
  it('introspection alone without a token where GraphiQL is served', () => {
    expect(execute(open, '{ __schema { types { name } } }', anonymous)).toBe('passed');
    expect(execute(open, '{ __typename secret }', anonymous)).toBe('UNAUTHENTICATED');
    expect(execute(open, '{ ...F } fragment F on Query { secret }', anonymous)).toBe('UNAUTHENTICATED');
  });
  it('says outage, not "wrong token", when nobody could look', () => {
    expect(code(() => open.beforeParsing(schema, '', { ...anonymous, failure: new Error('down') }))).toBe(
      'UNAVAILABLE',
    );
  });
  it.each([
    ['{ secret(a: "a\\u0000") }', {}],
    ['{ secret }', { input: { list: [{ name: 'a\0' }] } }],
    ['{ secret }', { 'a\ud800': 1 }],
  ])('no text that the database cannot hold: %s %j', (query, variables) => {
    expect(code(() => open.beforeExecution(schema, parse(query), known, variables))).toBe('BAD_USER_INPUT');
  });
  it('other text of any script, and nesting of any depth', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
    expect(code(() => open.beforeExecution(schema, parse('{ secret }'), known, { a: '🦄 ä', deep }))).toBe('passed');
  });
  it('no subscription by POST', () => {
    expect(execute(open, 'subscription { tick }', known)).toBe('SUBSCRIPTION_NEEDS_WEBSOCKET');
  });
  it('over a WebSocket one subscription, and nothing else', () => {
    const begin = (text: string, name?: string) =>
      code(() => open.beforeSubscription({ schema, document: parse(text), variables: {} }, name));
    expect(begin('subscription { tick }')).toBe('passed');
    expect(begin('{ secret }')).toBe('BAD_REQUEST');
    expect(begin('subscription A { tick } subscription B { tick }')).toBe('BAD_REQUEST');
    expect(begin('subscription A { tick } subscription B { tick }', 'B')).toBe('passed');
    expect(begin('subscription { tick(a: "\\u0000") }')).toBe('BAD_USER_INPUT');
  });
});
