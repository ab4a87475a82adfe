import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueryFailedError } from 'typeorm';

import { createLogger, toNestLogger } from './logger.ts';

const FOREIGN = 'of-another-tenant';
let written: string[] = [];
const read = (): Record<string, unknown>[] => written.map((line) => JSON.parse(line) as Record<string, unknown>);
const make = (level = 'info') =>
  createLogger(level, 'one', { destination: { write: (line) => void written.push(line) }, nowMs: () => Date.now() });

beforeEach(() => {
  written = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

/** One of 1.3 MB, as a status commit of many agents fails. */
const failStatement = (): Error =>
  new QueryFailedError(
    'INSERT INTO local_object SELECT * FROM jsonb_to_recordset($1)',
    [FOREIGN.repeat(80_000)],
    Object.assign(new Error('could not extend file "base/5/16384": No space left on device'), {
      code: '53100',
      detail: FOREIGN,
    }),
  );

describe('the log of a hub', () => {
  it('says a failure that comes a hundred times a second once a minute, in a few lines, with the count', () => {
    const log = make();
    const agents = ['a', 'b'].map((agentId) => log.child({ agentId }));
    for (let i = 0; i < 200; i += 1) {
      agents[i % 2]!.warn({ err: failStatement(), requestId: `r${i}` }, 'status could not be committed');
      vi.advanceTimersByTime(10);
    }
    expect(read().map(({ agentId }) => agentId)).toEqual(['a', 'b']);
    vi.advanceTimersByTime(70_000);
    expect(read().slice(2)).toMatchObject([
      { level: 40, agentId: 'a', repeated: 99, err: { code: '53100' }, msg: 'status could not be committed' },
      { agentId: 'b', repeated: 99 },
    ]);
    expect((read()[2]?.['requestIds'] as string[]).length).toBe(10);
    expect(written.join('')).not.toContain(FOREIGN);
    expect(written.join('').length).toBeLessThan(10_000);
  });

  it('keeps what helps: SQLSTATE, statement and where it was thrown', () => {
    make().error({ err: failStatement() }, 'failed');
    expect(read()[0]).toMatchObject({
      replica: 'one',
      err: {
        type: 'QueryFailedError',
        code: '53100',
        message: expect.stringContaining('No space left') as unknown,
        statement: 'INSERT INTO local_object SELECT * FROM jsonb_to_recordset($1)',
        stack: expect.stringContaining('logger.spec.ts') as unknown,
      },
    });
  });

  it('bounds an error and a message that come alone, and cuts secrets', () => {
    const log = make();
    log.error(new Error('x'.repeat(1_000_000)));
    log.info('y'.repeat(1_000_000));
    log.info({ config: { oidc: { secret: 's3cret' } }, token: 's3cret' }, 'effective configuration');
    expect(written.map((line) => line.length < 5_000)).toEqual([true, true, true]);
    expect(written[2]).toContain('"secret":"***"');
    expect(written.join('')).not.toContain('s3cret');
  });

  it('merges what Nest says of failures, whatever they quote', () => {
    const nest = toNestLogger(make());
    for (let i = 0; i < 100; i += 1) nest.error(`cannot read ${i} ${FOREIGN}`, 'stack', 'Router');
    for (let i = 0; i < 100; i += 1) nest.error(new Error(`${i}`));
    expect(read().length).toBeLessThan(10);
  });

  it('keeps no line back at debug, and no fatal one', () => {
    const log = make('debug');
    for (let i = 0; i < 20; i += 1) log.debug({ n: i }, 'passes');
    for (let i = 0; i < 20; i += 1) log.fatal({ n: i }, 'ends');
    expect(written).toHaveLength(40);
  });
});
