import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { makeErrorFormatter } from './error-formatter.ts';

const format = (error: GraphQLError, data?: Record<string, unknown> | null) => {
  const logged: object[] = [];
  const formatter = makeErrorFormatter({ error: (fields) => logged.push(fields) });
  const result = formatter({ errors: [error], ...(data === undefined ? {} : { data }) }, { requestId: 'req-1' });
  return { ...result, logged, first: result.response.errors?.[0] };
};
const wrap = (cause: Error, path?: string[]) =>
  new GraphQLError(cause.message, { originalError: cause, path: path ?? null });

describe('what clients learn of an error', () => {
  it('masks an unknown error, logs it, and gives the request id', () => {
    const { first, logged } = format(wrap(new Error('relation "secret" does not exist'), ['hub']), null);
    expect(JSON.stringify(first)).not.toContain('secret');
    expect(first?.extensions).toEqual({ code: 'INTERNAL', requestId: 'req-1' });
    expect(logged).toHaveLength(1);
  });
  it('lets an ApiError pass, thrown by a hook or by a resolver', () => {
    expect(format(wrap(new ApiError('UNAUTHENTICATED', 'who?')))).toMatchObject({ statusCode: 401, logged: [] });
    expect(format(wrap(new ApiError('FORBIDDEN', 'no'), ['a']), null).first).toMatchObject({
      message: 'no',
      path: ['a'],
    });
  });
  it('shows every validation error', () => {
    const cause = Object.assign(new Error('Graphql validation error'), {
      code: 'MER_ERR_GQL_VALIDATION',
      errors: [new GraphQLError('no field a'), new GraphQLError('no field b')],
    });
    const { response, statusCode } = format(wrap(cause));
    expect(statusCode).toBe(400);
    expect(response.errors?.map((each) => each.message)).toEqual(['no field a', 'no field b']);
  });
  it('calls a lost database an outage', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED /run/x'), { code: 'ECONNREFUSED' });
    expect(format(wrap(cause, ['hub']), null).first?.extensions).toMatchObject({ code: 'UNAVAILABLE' });
  });
  it('names what is wrong with a database that takes no writes, and what to do', () => {
    const cause = Object.assign(new Error('cannot execute INSERT in a read-only transaction'), {
      driverError: { code: '25006' },
    });
    const { first, statusCode } = format(wrap(cause, ['createRedisCluster']));
    expect(statusCode).toBe(503);
    expect(first?.extensions).toEqual({ code: 'UNAVAILABLE', reason: 'DATABASE_READ_ONLY', requestId: 'req-1' });
    expect(first?.message).toMatch(/^The database takes no writes.*Promote it.*Quote request id req-1\.$/);
    expect(first?.message).not.toContain('INSERT');
  });
  it('masks a null where none may be, which is a bug of ours', () => {
    const { first } = format(
      new GraphQLError('Cannot return null for non-nullable field A.b.', { path: ['a', 'b'] }),
      null,
    );
    expect(first?.extensions).toMatchObject({ code: 'INTERNAL' });
  });
  it('keeps 200 when part of the answer is there', () => {
    expect(format(wrap(new Error('x'), ['a']), { a: null, b: 1 }).statusCode).toBe(200);
  });
});
