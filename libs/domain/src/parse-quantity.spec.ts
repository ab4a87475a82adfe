import { describe, expect, it } from 'vitest';
import { compareEngineVersions } from './engine-catalogue.ts';
import { parseDurationMs } from './parse-duration.ts';
import { parseQuantity, parseRedisMemory } from './parse-quantity.ts';

describe('parseQuantity', () => {
  it.each([
    ['1Gi', 2 ** 30],
    ['1024Mi', 2 ** 30],
    ['1G', 1e9],
    ['500m', 0.5],
    ['.5', 0.5],
    ['2e3', 2000],
    ['0', 0],
    ['1GB', undefined],
    ['1 Gi', undefined],
    ['', undefined],
  ])('%j → %s', (text, amount) => {
    if (amount === undefined) expect(parseQuantity(text)).toBeUndefined();
    else expect(parseQuantity(text)).toBeCloseTo(amount, 9);
  });
});

describe('parseRedisMemory', () => {
  it.each([
    ['100m', 100_000_000],
    ['100mb', 104_857_600],
    ['100MB', 104_857_600],
    ['1gb', 2 ** 30],
    ['7', 7],
    ['1.5gb', undefined],
    ['1tb', undefined],
    ['-1', undefined],
    ['1 mb', undefined],
    ['', undefined],
  ])('%j → %s, as redis-server 7.0.15 reads it', (text, bytes) => {
    expect(parseRedisMemory(text)).toBe(bytes);
  });
});

describe('parseDurationMs', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['1m30s', 90_000],
    ['2h', 7_200_000],
    ['5', undefined],
    ['5 s', undefined],
    ['-5s', undefined],
    ['', undefined],
  ])('%j → %s', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });
});

describe('compareEngineVersions', () => {
  it.each([
    ['7.0', '8.0', -1],
    ['8.2', '8.10', -1],
    ['8.0.2', '8.0.10', -1],
    ['8.0.2', '8.0.2', 0],
    ['8.0', '8.0', 0],
    ['8.0', '8.0.9', 1],
    ['8.0.9', '8.0', -1],
  ])('%s against %s → %i', (a, b, sign) => {
    expect(Math.sign(compareEngineVersions(a, b))).toBe(sign);
  });
});
