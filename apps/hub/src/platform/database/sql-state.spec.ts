import { describe, expect, it } from 'vitest';

import { isAboutContent, isAboutOthers, nameOutage } from './sql-state.ts';

describe('what a failure of the database is about', () => {
  it.each([
    [{ code: '53300' }, 'DATABASE_FULL'],
    [{ driverError: { code: '53300' } }, 'DATABASE_FULL'],
    [{ code: '57P03' }, 'DATABASE_STARTING'],
    [{ code: '57P01' }, 'DATABASE_STARTING'],
    [{ code: 'ECONNREFUSED' }, 'DATABASE_REFUSED'],
    [{ code: 'ENOENT', syscall: 'connect' }, 'DATABASE_REFUSED'],
    [{ code: '08006' }, 'DATABASE_UNREACHABLE'],
    [{ code: 'EHOSTUNREACH' }, 'DATABASE_UNREACHABLE'],
    [new Error('Connection terminated unexpectedly'), 'DATABASE_UNREACHABLE'],
    [new Error('Connection terminated due to connection timeout'), 'DATABASE_SILENT'],
    [new Error('Connection terminated: the database has not answered for 30 s'), 'DATABASE_SILENT'],
    [new Error('timeout expired'), 'DATABASE_SILENT'],
    [{ code: '23514', table: 'change_log' }, 'DATABASE_LACKS_PARTITION'],
    [{ driverError: { code: '23514' } }, 'DATABASE_LACKS_PARTITION'],
    [{ code: '23514', constraint: 'agent_check' }, undefined],
    [{ code: '28P01', message: 'password authentication failed' }, undefined],
    [{ code: '3D000' }, undefined],
    [{ code: '23505' }, undefined],
    [new Error('anything else'), undefined],
  ])('%j keeps everybody from it: %s', (error, outage) => {
    expect(nameOutage(error)).toBe(outage);
  });

  it("takes a row without a partition for nobody's content, and a violated check for somebody's", () => {
    expect(isAboutContent({ driverError: { code: '23514' } })).toBe(false);
    expect(isAboutContent({ driverError: { code: '23514', constraint: 'agent_check' } })).toBe(true);
  });

  it('tells content from others', () => {
    expect([
      isAboutContent({ driverError: { code: '22P05' } }),
      isAboutOthers({ driverError: { code: '22P05' } }),
    ]).toEqual([true, false]);
    expect(isAboutOthers({ driverError: { code: '40P01' } })).toBe(true);
  });
});
