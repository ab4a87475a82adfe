import { describe, expect, it } from 'vitest';

import { boundFields } from './bound-fields.ts';
import { describeError, nameStatement } from './describe-error.ts';
import { nameLine } from './name-line.ts';

const FOREIGN = 'tenant-secret';
const flood = FOREIGN.repeat(100_000);

/** As TypeORM and pg make it. */
class QueryFailedError extends Error {
  readonly query = `INSERT INTO desired_object (spec) VALUES ($1), ('${flood}')`;
  readonly parameters = [flood, { spec: flood }];
  readonly code: string;
  readonly constraint = 'desired_object_spec_check';
  readonly detail = `Failing row contains (${flood}).`;
  readonly where = `JSON data, line 1: ${flood}`;
  readonly driverError: Error;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
    this.driverError = Object.assign(new Error(message), { code, detail: this.detail });
  }
}

describe('an error in the log', () => {
  it('is named by its SQLSTATE, constraint and statement, and holds no value of a row', () => {
    const described = describeError(new QueryFailedError('23514', 'new row violates check constraint'));
    expect(described).toMatchObject({
      type: 'QueryFailedError',
      message: 'new row violates check constraint',
      code: '23514',
      constraint: 'desired_object_spec_check',
      statement: 'INSERT INTO desired_object (spec) VALUES ($1), (?',
    });
    expect(JSON.stringify(described)).not.toContain(FOREIGN);
    expect(described.stack).toMatch(/^at .*describe-error\.spec\.ts/);
  });

  it('shows no data that PostgreSQL quotes in its text', () => {
    const error = new QueryFailedError('22P02', `invalid input syntax for type uuid: "${flood}"`);
    expect(describeError(error).message).toBe('invalid input syntax for type uuid: "…"');
  });

  it.each([
    ['its text', new Error(flood)],
    ['a cause', new Error('outer', { cause: new QueryFailedError('53100', flood) })],
    [
      'many errors in one',
      new AggregateError(
        Array.from({ length: 1_000 }, () => new Error(flood)),
        flood,
      ),
    ],
    ['causes without an end', endless()],
    ['the body of an answer', Object.assign(new Error('HTTP 409'), { body: { data: flood }, headers: { a: flood } })],
    ['foreign names', Object.assign(new Error('x'), { code: flood, table: { a: flood }, name: flood })],
  ])('is bounded whatever is in %s', (_what, error) => {
    expect(JSON.stringify(boundFields({ err: error })).length).toBeLessThan(16_000);
  });

  it('is described also when something else was thrown', () => {
    expect([describeError('no'), describeError(undefined), describeError({ message: 1 })]).toEqual([
      { type: 'string', message: 'no' },
      { type: 'undefined', message: 'undefined' },
      { type: 'Object', message: 'without a text' },
    ]);
  });

  it('has the first words of its statement, without what is written out in it', () => {
    expect(nameStatement(`UPDATE  agent\n SET name = 'it''s', n = 12345 WHERE id = $1`)).toBe(
      'UPDATE agent SET name = ??, n = ? WHERE id = $1',
    );
    expect(nameStatement('x '.repeat(1_000_000)).length).toBeLessThan(110);
  });
});

describe('the fields of a log line', () => {
  it('lose the values of secrets at any depth, and keep the rest', () => {
    const fields = { a: 1, list: [{ deep: { Password: 'x', token: 'y' } }], at: new Date(0), n: 5n, none: undefined };
    expect(boundFields(fields)).toEqual({
      a: 1,
      list: [{ deep: { Password: '***', token: '***' } }],
      at: '1970-01-01T00:00:00.000Z',
      n: '5',
      none: undefined,
    });
  });

  it('are cut in length, number and depth, and survive a getter that throws', () => {
    const round: Record<string, unknown> = { many: Array.from({ length: 100_000 }, (_, i) => flood.slice(i % 9)) };
    round['self'] = round;
    round['bytes'] = new Uint8Array(1_000_000);
    Object.defineProperty(round, 'bad', { enumerable: true, get: () => JSON.parse('{') as unknown });
    const text = JSON.stringify(boundFields(round));
    expect(text.length).toBeLessThan(16_000);
    const { bad, bytes } = boundFields({ bytes: round['bytes'], ...Object.getOwnPropertyDescriptors({}), bad: 1 });
    expect([bad, bytes]).toEqual([1, '[1000000 bytes]']);
  });

  it('make lines equal by the kind of failure, whatever a stranger puts into its text', () => {
    const name = (text: string, agentId = 'a'): string =>
      nameLine({ agentId, path: [text], err: new QueryFailedError('53100', text) }).failure;
    const [first, second, other] = ['x', 'y', 'z'].map((text, i) => name(text, i === 2 ? 'b' : 'a'));
    expect(first).toBe(second);
    expect(other).not.toBe(first);
  });
});

function endless(): Error {
  const error = new Error(FOREIGN);
  error.cause = error;
  return error;
}
