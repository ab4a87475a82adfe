import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { parseTimestamp } from './parse-timestamp.ts';

const ofPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date | number;

describe('a timestamp of PostgreSQL', () => {
  it.each([
    ['2026-11-30 15:11:50.123456+00', '2026-11-30T15:11:50.123Z'],
    ['2026-11-30 15:11:50.1+05:30', '2026-11-30T09:41:50.100Z'],
    ['2026-11-30 15:11:50-03', '2026-11-30T18:11:50.000Z'],
    ['0999-01-01 00:00:00+00', '0999-01-01T00:00:00.000Z'],
    ['0044-03-15 12:00:00+00', '0044-03-15T12:00:00.000Z'],
  ])('%s is %s, as pg reads it', (text, expected) => {
    expect(parseTimestamp(text)).toEqual(new Date(expected));
    expect(parseTimestamp(text)).toEqual(ofPg(text));
  });
  it.each([
    'infinity',
    '-infinity',
    '0044-03-15 12:00:00+00 BC',
    '1883-11-18 12:00:00-04:56:02',
    '12345-01-01 00:00:00+00',
  ])('%s is what pg makes of it', (text) => {
    expect(parseTimestamp(text)).toEqual(ofPg(text));
  });
});
