import { describe, expect, it } from 'vitest';

import { isAboutContent, isAboutOthers, isSurelyContent, nameOutage } from './sql-state.ts';

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
    [{ driverError: { code: '25006' } }, 'DATABASE_READ_ONLY'],
    [{ driverError: { code: '53100' } }, 'DATABASE_DISK_FULL'],
    [{ driverError: { code: '53200' } }, 'DATABASE_OUT_OF_MEMORY'],
    [{ code: '53000' }, 'DATABASE_OUT_OF_RESOURCES'],
    [{ code: '53400' }, 'DATABASE_OUT_OF_RESOURCES'],
    [{ code: '58030' }, 'DATABASE_DISK_FAILS'],
    [{ code: '58P01' }, 'DATABASE_DISK_FAILS'],
    [{ code: 'XX001' }, 'DATABASE_CORRUPTED'],
    [{ code: 'XX002' }, 'DATABASE_CORRUPTED'],
    [{ code: '55P03' }, 'DATABASE_LOCKED'],
    [{ code: '25P03' }, 'DATABASE_UNREACHABLE'],
    [{ code: '28P01', message: 'password authentication failed' }, 'DATABASE_LOGIN_REFUSED'],
    [{ code: '28000' }, 'DATABASE_LOGIN_REFUSED'],
    [{ code: '3D000' }, 'DATABASE_MISSING'],
    [{ code: 'XX000' }, undefined],
    [{ code: '25P02' }, undefined],
    [{ code: '23505' }, undefined],
    [new Error('anything else'), undefined],
  ])('%j keeps everybody from it: %s', (error, outage) => {
    expect(nameOutage(error)).toBe(outage);
  });

  it("takes a row without a partition for nobody's content, and a violated check for somebody's", () => {
    expect(isAboutContent({ driverError: { code: '23514' } })).toBe(false);
    expect(isAboutContent({ driverError: { code: '23514', constraint: 'agent_check' } })).toBe(true);
  });

  it.each([
    ...['21000', '22P05', '22021', '23505', '42P01', '42883', '0A000', '54000', '54001', 'P0001', 'XX000'].map(
      (code) => [code, true] as const,
    ),
    ...['08006', '25006', '28000', '3D000', '40001', '40P01', '53100', '53200', '53300', '55P03', '57014', '57P01'].map(
      (code) => [code, false] as const,
    ),
    ...['53400', '28P01', '25P02', 'XX001', '58030', 'ECONNRESET', ''].map((code) => [code, false] as const),
  ])('takes %j for what comes again with the same content: %s', (code, expected) => {
    expect(isAboutContent({ driverError: { code } })).toBe(expected);
  });

  it('knows at once that a value, a constraint or a limit of the server is at fault, and of others only when they come again', () => {
    const isSure = (code: string): boolean => isSurelyContent({ driverError: { code } });
    expect(['22P05', '23505', '54000'].map(isSure)).toEqual([true, true, true]);
    expect(['XX000', 'P0001', '42P01', '53100'].map(isSure)).toEqual([false, false, false, false]);
  });

  it('tells content from others', () => {
    expect([
      isAboutContent({ driverError: { code: '22P05' } }),
      isAboutOthers({ driverError: { code: '22P05' } }),
    ]).toEqual([true, false]);
    expect(isAboutOthers({ driverError: { code: '40P01' } })).toBe(true);
  });
});
